import { recordEvent } from '../audit/events.js';
import type { FieldErrorCode } from '../contract/errors/fields.js';
import type { ExternalIdentity, ExternalIdentityLink } from '../contract/external-identity.js';
import type { Database, Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { canonicalIdentity } from '../identities/identity.js';
import { sha256 } from '../lib/crypto/digests.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { choiceError, Problem } from '../lib/problem.js';
import type { Notices } from '../messages/notices.js';
import { endGuest, findUserForUpdate } from './queries.js';

/** An account at an OpenID provider. */
export interface ExternalAccount {
  /** The name of the provider in the configuration. */
  readonly provider: string;
  readonly issuer: string;
  /** The claim `sub`: the issuer's id of the account, never reassigned (OpenID Connect Core 1.0, section 2). */
  readonly subject: string;
  /** The mail address, as the provider writes it. It says nothing about who the user is. */
  readonly email?: string | undefined;
}

/** The external identities of users, for operators: accounts at OpenID providers that can log in to the user's account. */
export interface ExternalIdentities {
  selectLinks(userId: string): Promise<ExternalIdentity[]>;
  /** @throws Problem `validation_failed` for a provider that is not configured, `external_identity_taken`, `not_found` */
  link(userId: string, link: ExternalIdentityLink, origin: Origin): Promise<ExternalIdentity>;
  /** @throws Problem `not_found` */
  unlink(userId: string, id: string, origin: Origin): Promise<void>;
}

/** @param providers the configured providers */
export function createExternalIdentities(
  database: Database,
  providers: readonly LinkableProvider[],
  notices: Pick<Notices, 'notify'>,
): ExternalIdentities {
  return {
    selectLinks: (userId) => listExternalIdentities(database, userId),
    async link(userId, { provider, subject, tenant }, origin) {
      const issuer = issuerOf(requireProvider(providers, provider), tenant);
      return database.user(userId).transaction(async (tx) => {
        // The lock keeps a parallel deletion of the user from leaving the link behind.
        if ((await findUserForUpdate(tx, userId)) === undefined) throw new Problem('not_found');
        return linkExternalIdentity(tx, userId, { provider, issuer, subject }, { origin, notices });
      });
    },
    unlink: (userId, id, origin) =>
      database.user(userId).transaction((tx) => unlinkExternalIdentity(tx, userId, { id }, { origin, notices })),
  };
}

interface LinkableProvider {
  readonly name: string;
  readonly issuer: string;
  readonly tenantIssuer?: ((tenant: string) => string | undefined) | undefined;
}

/** @throws Problem `validation_failed` if the account needs a tenant, or has none */
function issuerOf({ issuer, tenantIssuer }: LinkableProvider, tenant: string | undefined): string {
  const fail = (code: FieldErrorCode) => new Problem('validation_failed', { errors: [{ field: 'tenant', code }] });
  if (tenantIssuer === undefined) {
    // The issuer of one tenant of such a provider names this tenant.
    if (tenant !== undefined && !issuer.split('/').includes(tenant)) throw fail('no_tenants');
    return issuer;
  }
  if (tenant === undefined) throw fail('required');
  const found = tenantIssuer(tenant);
  if (found === undefined) throw fail('tenant_not_listed');
  return found;
}

/** @throws Problem `validation_failed` that lists the configured providers */
function requireProvider<Provider extends { readonly name: string }>(
  providers: readonly Provider[],
  name: string,
): Provider {
  const found = providers.find((provider) => provider.name === name);
  if (found !== undefined) return found;
  const names = providers.map((provider) => provider.name);
  throw new Problem('validation_failed', { errors: [choiceError('provider', names)] });
}

const digestOf = (issuer: string, subject: string) => sha256(`${issuer}\n${subject}`);

const selectOwner = statement<{ digest: Buffer }, { user_id: string; email: string | null }>(
  'external_identity_find',
  (p) => sql`select user_id, email from external_identities where digest = ${p.digest}`,
);

const updateEmail = statement<{ digest: Buffer; email: string | null }>(
  'external_identity_email',
  (p) => sql`update external_identities set email = ${p.email} where digest = ${p.digest}`,
);

/** The form in which operators find an address. */
const searchable = (email: string | undefined): string | null =>
  email === undefined ? null : (canonicalIdentity('email', email, undefined)?.canonical ?? null);

/**
 * Finds the user to whom an account is linked. If the account is known with another mail address, the new one is stored.
 * @returns the id of the user to whom the external account is linked, if there is one
 */
export async function findByExternalIdentity(
  handle: Queryable,
  { issuer, subject, email }: Omit<ExternalAccount, 'provider'>,
): Promise<string | undefined> {
  const digest = digestOf(issuer, subject);
  const [row] = await handle.query(selectOwner({ digest }));
  const known = searchable(email);
  if (row !== undefined && known !== null && known !== row.email)
    await handle.query(updateEmail({ digest, email: known }));
  return row?.user_id;
}

const columns = sql`id, provider, issuer, subject, email, created_at`;

const list = statement<{ userId: string }, ExternalIdentity>(
  'external_identity_list',
  (p) => sql`select ${columns} from external_identities where user_id = ${p.userId} order by created_at, id`,
);

/** The external identities of a user, the oldest first. */
export async function listExternalIdentities(handle: Queryable, userId: string): Promise<ExternalIdentity[]> {
  return handle.query(list({ userId }));
}

interface NewLink extends Omit<ExternalAccount, 'email'> {
  readonly digest: Buffer;
  readonly userId: string;
  readonly id: string;
  readonly email: string | null;
}

const insertLink = statement<NewLink, ExternalIdentity>(
  'external_identity_insert',
  (p) => sql`
    insert into external_identities (digest, user_id, id, provider, issuer, subject, email, created_at)
    values (${p.digest}, ${p.userId}, ${p.id}, ${p.provider}, ${p.issuer}, ${p.subject}, ${p.email}, db_now())
    on conflict (digest) do nothing
    returning ${columns}`,
);

const selectOwnLink = statement<{ digest: Buffer; userId: string }, ExternalIdentity>(
  'external_identity_own',
  (p) => sql`select ${columns} from external_identities where digest = ${p.digest} and user_id = ${p.userId}`,
);

/** The origin of a link or unlink, and the notices that report it to the user. */
interface LinkingContext {
  readonly origin: Origin;
  readonly notices: Pick<Notices, 'notify'>;
}

/**
 * Links an external account to a user, without a notice: the transaction creates this user, or notifies.
 * @returns undefined if the account is linked already
 */
export async function recordExternalIdentity(
  tx: Queryable,
  userId: string,
  account: ExternalAccount,
  origin: Origin,
): Promise<ExternalIdentity | undefined> {
  const digest = digestOf(account.issuer, account.subject);
  const { provider, issuer, subject } = account;
  const email = searchable(account.email);
  const [linked] = await tx.query(insertLink({ provider, issuer, subject, email, digest, userId, id: newId() }));
  if (linked === undefined) return undefined;
  const data = { external_identity_id: linked.id, provider };
  await recordEvent(tx, { userId, type: 'external_identity.linked', origin, data });
  return linked;
}

/**
 * Links an external account to a user whose row the transaction has locked. A repeated link changes nothing.
 * @throws Problem `external_identity_taken` when it is linked to another user
 */
export async function linkExternalIdentity(
  tx: Queryable,
  userId: string,
  account: ExternalAccount,
  { origin, notices }: LinkingContext,
): Promise<ExternalIdentity> {
  const linked = await recordExternalIdentity(tx, userId, account, origin);
  if (linked === undefined) {
    const [link] = await tx.query(selectOwnLink({ digest: digestOf(account.issuer, account.subject), userId }));
    if (link === undefined) throw new Problem('external_identity_taken');
    return link;
  }
  await endGuest(tx, userId);
  await notices.notify(tx, { userId, kind: 'external_identity_added', origin });
  return linked;
}

const deleteLink = statement<{ userId: string; id: string; provider: string | null }, { provider: string }>(
  'external_identity_remove',
  (p) => sql`
    delete from external_identities
    where user_id = ${p.userId} and id = ${p.id} and provider = coalesce(${p.provider}, provider)
    returning provider`,
);

/** @throws Problem `not_found`, also if the identity belongs to another provider than the given `provider` */
export async function unlinkExternalIdentity(
  tx: Queryable,
  userId: string,
  { id, provider }: { readonly id: string; readonly provider?: string },
  { origin, notices }: LinkingContext,
): Promise<void> {
  const [removedLink] = await tx.query(deleteLink({ userId, id, provider: provider ?? null }));
  if (removedLink === undefined) throw new Problem('not_found');
  const data = { external_identity_id: id, provider: removedLink.provider };
  await recordEvent(tx, { userId, type: 'external_identity.unlinked', origin, data });
  await notices.notify(tx, { userId, kind: 'external_identity_removed', origin });
}
