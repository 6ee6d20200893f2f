import { prepared, type Queryable } from '../../database/database.js';
import type { Origin } from '../../lib/origin.js';
import { importedSchemes } from '../secrets/password-schemes.js';
import type { Candidate, Known } from './import-plan.js';
import type { NewUserValues } from './queries.js';
import type { ShownIdentity } from './validation.js';

const findOwners = prepared(
  'import_owners',
  `select encode(digest, 'hex') as digest, user_id from identities where digest = any ($1::bytea[])`,
);

/** Events outlive their user: that one was deleted is known for as long as anything is left that is the user's. */
const findIds = prepared(
  'import_ids',
  `select id, false as deleted from users where id = any ($1::uuid[])
   union all
   select user_id, true from events where user_id = any ($1::uuid[]) and type = 'user.deleted'`,
);

const readNow = prepared('import_now', 'select db_now() as now');

/** Four look-ups by key, however many candidates. */
export async function findKnown(handle: Queryable, candidates: readonly Candidate[]): Promise<Known> {
  const digests = candidates.flatMap(({ identities }) => identities.map(({ digest }) => Buffer.from(digest, 'hex')));
  const given = candidates.filter(({ hasGivenId }) => hasGivenId).map(({ id }) => id);
  const owners = await handle.query<{ digest: string; user_id: string }>(findOwners, [digests]);
  const ids = given.length === 0 ? [] : await handle.query<{ id: string; deleted: boolean }>(findIds, [given]);
  const schemes = await importedSchemes(handle);
  const [clock] = await handle.query<{ now: string }>(readNow);
  const idsThat = (areDeleted: boolean) => ids.filter(({ deleted }) => deleted === areDeleted).map(({ id }) => id);
  return {
    owners: new Map(owners.map(({ digest, user_id }) => [digest, user_id])),
    ids: new Set(idsThat(false)),
    deletedIds: new Set(idsThat(true)),
    schemes: new Set(schemes),
    now: clock?.now ?? '',
  };
}

/** A user to insert. */
export interface ImportRow {
  readonly candidate: Candidate;
  readonly identities: readonly ShownIdentity[];
  readonly values: NewUserValues;
}

/*
 * One statement, whatever the number of users. Rows go in by key, so that two imports that want the same never wait for
 * each other in turn. What is there already is passed over and missing from the counts: then nothing of this may stay.
 */
const insertAll = prepared(
  'import_insert',
  `with
    given as materialized (
      select * from json_to_recordset($1::json) as given (
        id uuid, username text, email text, phone text, name text, locale text, role text, password_hash text,
        pin_hash text, metadata text, created_at timestamptz)
    ),
    clock as materialized (select db_now() as now),
    claimed as (
      insert into identities (digest, user_id, type, canonical)
      select decode(digest, 'hex') as key, user_id, type, canonical
      from json_to_recordset($2::json) as claim (digest text, user_id uuid, type text, canonical text)
      order by key
      on conflict (digest) do nothing
      returning 1
    ),
    made as (
      insert into users (id, username, email, phone, name, locale, role, password_hash, pin_hash, metadata, created_at,
                         updated_at)
      select id, username, email, phone, name, locale, role, password_hash, pin_hash, metadata::jsonb,
             coalesce(created_at, now), now
      from given cross join clock
      order by id
      on conflict (id) do nothing
      returning 1
    ),
    heads as (
      insert into inboxes (user_id) select id from given order by id on conflict (user_id) do nothing
    ),
    told as (
      insert into events (user_id, id, type, actor, address, request_id, created_at)
      select given.id, gen_random_uuid(), 'user.created', $3, $4::inet, $5, now from given cross join clock
    )
  select (select count(*) from claimed) as identities, (select count(*) from made) as users`,
);

/** @returns whether all are inserted. If not, the transaction must not commit. */
export async function insertImported(tx: Queryable, rows: readonly ImportRow[], origin: Origin): Promise<boolean> {
  const users = rows.map(({ candidate, values }) => ({
    ...values,
    id: candidate.id,
    created_at: candidate.createdAt ?? null,
  }));
  const claims = rows.flatMap(({ candidate, identities }) =>
    identities.map(({ identity: { type, canonical } }, index) => {
      const digest = candidate.identities[index]?.digest;
      return { digest, user_id: candidate.id, type, canonical };
    }),
  );
  const { actor, address, requestId } = origin;
  const [counts] = await tx.query<{ identities: number; users: number }>(insertAll, [
    ...[JSON.stringify(users), JSON.stringify(claims)],
    ...[actor, address ?? null, requestId ?? null],
  ]);
  return counts?.identities === claims.length && counts.users === users.length;
}
