import type { ExternalIdentity } from '../../contract/external-identity.js';
import { type Database, prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { choiceFault, Problem } from '../../lib/problem.js';
import { sha256 } from '../../lib/sha256.js';
import { recordEvent } from '../events/events.js';
import type { Notices } from '../messages/notices.js';
import { holdUser } from '../users/queries.js';

/** An account elsewhere: a provider's issuer and what it calls the account there (`sub`), which it never gives to another. */
export interface ExternalAccount {
  /** The name of the provider here. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
}

/** The accounts elsewhere that let users in, for operators. */
export interface ExternalIdentities {
  list(userId: string): Promise<ExternalIdentity[]>;
  /** @throws Problem `validation_failed` for a provider that is not configured, `external_identity_taken`, `not_found` */
  link(userId: string, link: { provider: string; subject: string }, origin: Origin): Promise<ExternalIdentity>;
  /** @throws Problem `not_found` */
  unlink(userId: string, id: string, origin: Origin): Promise<void>;
}

/** @param providers those that are configured */
export function createExternalIdentities(
  database: Database,
  providers: readonly { readonly name: string; readonly issuer: string }[],
  notices: Pick<Notices, 'notify'>,
): ExternalIdentities {
  return {
    list: (userId) => listExternalIdentities(database.lane(userId), userId),
    async link(userId, { provider, subject }, origin) {
      const { issuer } = demandProvider(providers, provider);
      return database.lane(userId).transaction(async (tx) => {
        // A user who is deleted meanwhile must not leave a link behind.
        if ((await holdUser(tx, userId)) === undefined) throw new Problem('not_found');
        return linkExternalIdentity(tx, userId, { provider, issuer, subject }, { origin, notices });
      });
    },
    unlink: (userId, id, origin) =>
      database.lane(userId).transaction((tx) => unlinkExternalIdentity(tx, userId, { id }, { origin, notices })),
  };
}

/** @throws Problem `validation_failed` naming those that there are */
function demandProvider<Provider extends { readonly name: string }>(
  providers: readonly Provider[],
  name: string,
): Provider {
  const found = providers.find((provider) => provider.name === name);
  if (found !== undefined) return found;
  const names = providers.map((provider) => provider.name);
  throw new Problem('validation_failed', { errors: [choiceFault('provider', names)] });
}

const digestOf = (issuer: string, subject: string) => sha256(`${issuer}\n${subject}`);

const find = prepared('external_identity_find', 'select user_id from external_identities where digest = $1');

/** Whose account here it is, if it is linked to one. */
export async function findByExternalIdentity(
  handle: Queryable,
  issuer: string,
  subject: string,
): Promise<string | undefined> {
  const [row] = await handle.query<{ user_id: string }>(find, [digestOf(issuer, subject)]);
  return row?.user_id;
}

const columns = 'id, provider, issuer, subject, created_at';
const list = prepared(
  'external_identity_list',
  `select ${columns} from external_identities where user_id = $1 order by created_at, id`,
);

export async function listExternalIdentities(handle: Queryable, userId: string): Promise<ExternalIdentity[]> {
  return handle.query<ExternalIdentity>(list, [userId]);
}

const insert = prepared(
  'external_identity_insert',
  `insert into external_identities (digest, user_id, id, provider, issuer, subject, created_at)
   values ($1, $2, $3, $4, $5, $6, db_now()) on conflict (digest) do nothing returning ${columns}`,
);
const findOwn = prepared(
  'external_identity_own',
  `select ${columns} from external_identities where digest = $1 and user_id = $2`,
);

/** Who links or unlinks, and who tells the user of it. */
interface LinkingAct {
  readonly origin: Origin;
  readonly notices: Pick<Notices, 'notify'>;
}

/**
 * Links an account elsewhere to a user, whose row the transaction holds. Again: nothing changes.
 * @throws Problem `external_identity_taken` when it is linked to another user
 */
export async function linkExternalIdentity(
  tx: Queryable,
  userId: string,
  { provider, issuer, subject }: ExternalAccount,
  { origin, notices }: LinkingAct,
): Promise<ExternalIdentity> {
  const digest = digestOf(issuer, subject);
  const [linked] = await tx.query<ExternalIdentity>(insert, [digest, userId, newId(), provider, issuer, subject]);
  if (linked === undefined) {
    const [own] = await tx.query<ExternalIdentity>(findOwn, [digest, userId]);
    if (own === undefined) throw new Problem('external_identity_taken');
    return own;
  }
  const data = { external_identity_id: linked.id, provider };
  await recordEvent(tx, { userId, type: 'external_identity.linked', origin, data });
  await notices.notify(tx, { userId, kind: 'external_identity_added', origin });
  return linked;
}

const remove = prepared(
  'external_identity_remove',
  'delete from external_identities where user_id = $1 and id = $2 and provider = coalesce($3, provider) returning provider',
);

/** @throws Problem `not_found`, also when it is none of the provider, if one is given */
export async function unlinkExternalIdentity(
  tx: Queryable,
  userId: string,
  { id, provider }: { readonly id: string; readonly provider?: string },
  { origin, notices }: LinkingAct,
): Promise<void> {
  const [removed] = await tx.query<{ provider: string }>(remove, [userId, id, provider ?? null]);
  if (removed === undefined) throw new Problem('not_found');
  const data = { external_identity_id: id, provider: removed.provider };
  await recordEvent(tx, { userId, type: 'external_identity.unlinked', origin, data });
  await notices.notify(tx, { userId, kind: 'external_identity_removed', origin });
}
