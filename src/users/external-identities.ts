import { recordEvent } from '../audit/events.js';
import type { ExternalIdentity } from '../contract/external-identity.js';
import type { Database, Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
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
}

/** The external identities of users, for operators: accounts at OpenID providers that can log in to the user's account. */
export interface ExternalIdentities {
  selectLinks(userId: string): Promise<ExternalIdentity[]>;
  /** @throws Problem `validation_failed` for a provider that is not configured, `external_identity_taken`, `not_found` */
  link(userId: string, link: { provider: string; subject: string }, origin: Origin): Promise<ExternalIdentity>;
  /** @throws Problem `not_found` */
  unlink(userId: string, id: string, origin: Origin): Promise<void>;
}

/** @param providers the configured providers */
export function createExternalIdentities(
  database: Database,
  providers: readonly { readonly name: string; readonly issuer: string }[],
  notices: Pick<Notices, 'notify'>,
): ExternalIdentities {
  return {
    selectLinks: (userId) => listExternalIdentities(database, userId),
    async link(userId, { provider, subject }, origin) {
      const { issuer } = requireProvider(providers, provider);
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

const selectOwner = statement<{ digest: Buffer }, { user_id: string }>(
  'external_identity_find',
  (p) => sql`select user_id from external_identities where digest = ${p.digest}`,
);

/** @returns the id of the user to whom the external account is linked, if there is one */
export async function findByExternalIdentity(
  handle: Queryable,
  issuer: string,
  subject: string,
): Promise<string | undefined> {
  const [row] = await handle.query(selectOwner({ digest: digestOf(issuer, subject) }));
  return row?.user_id;
}

const columns = sql`id, provider, issuer, subject, created_at`;

const list = statement<{ userId: string }, ExternalIdentity>(
  'external_identity_list',
  (p) => sql`select ${columns} from external_identities where user_id = ${p.userId} order by created_at, id`,
);

/** The external identities of a user, the oldest first. */
export async function listExternalIdentities(handle: Queryable, userId: string): Promise<ExternalIdentity[]> {
  return handle.query(list({ userId }));
}

const insertLink = statement<ExternalAccount & { digest: Buffer; userId: string; id: string }, ExternalIdentity>(
  'external_identity_insert',
  (p) => sql`
    insert into external_identities (digest, user_id, id, provider, issuer, subject, created_at)
    values (${p.digest}, ${p.userId}, ${p.id}, ${p.provider}, ${p.issuer}, ${p.subject}, db_now())
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
  const [linked] = await tx.query(insertLink({ ...account, digest, userId, id: newId() }));
  if (linked === undefined) return undefined;
  const data = { external_identity_id: linked.id, provider: account.provider };
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
  { provider, issuer, subject }: ExternalAccount,
  { origin, notices }: LinkingContext,
): Promise<ExternalIdentity> {
  const linked = await recordExternalIdentity(tx, userId, { provider, issuer, subject }, origin);
  if (linked === undefined) {
    const [link] = await tx.query(selectOwnLink({ digest: digestOf(issuer, subject), userId }));
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
