import type { PreferenceChanges } from '../contract/preferences.js';
import { importedSchemes } from '../credentials/password-schemes.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { Origin } from '../lib/origin.js';
import type { ImportCandidate, ImportState } from './import-plan.js';
import { type NewUserValues, storedDefinitions, storedNames, storedValues } from './queries.js';
import type { ShownIdentity } from './validation.js';

const findOwners = statement<{ digests: readonly Buffer[] }, { digest: string; user_id: string }>(
  'import_owners',
  (p) => sql`
    select encode(digest, 'hex') as digest, user_id from identities where digest = any (${p.digests}::bytea[])`,
);

/** A deleted user is recognised by an audit event. Events are kept longer than all other rows of the user. */
const findIds = statement<{ ids: readonly string[] }, { id: string; deleted: boolean }>(
  'import_ids',
  (p) => sql`
    select id, false as deleted from users where id = any (${p.ids}::uuid[])
    union all
    select user_id, true from events where user_id = any (${p.ids}::uuid[]) and type = 'user.deleted'`,
);

/** The time of the database. */
const readNow = statement<object, { now: string }>('import_now', () => sql`select db_now() as now`);

/** Reads the state that decides about candidates, in four look-ups by key, however many candidates there are. */
export async function findImportState(handle: Queryable, candidates: readonly ImportCandidate[]): Promise<ImportState> {
  const digests = candidates.flatMap(({ identities }) => identities.map(({ digest }) => Buffer.from(digest, 'hex')));
  const givenIds = candidates.filter(({ hasGivenId }) => hasGivenId).map(({ id }) => id);
  const owners = await handle.query(findOwners({ digests }));
  const ids = givenIds.length === 0 ? [] : await handle.query(findIds({ ids: givenIds }));
  const schemes = await importedSchemes(handle);
  const [clock] = await handle.query(readNow({}));
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
  readonly candidate: ImportCandidate;
  readonly identities: readonly ShownIdentity[];
  readonly values: NewUserValues;
  readonly preferences: PreferenceChanges | undefined;
}

interface InsertValues {
  /** JSON arrays of rows. */
  readonly users: string;
  readonly identities: string;
  readonly actor: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/**
 * Inserts any number of users in one statement. It inserts rows in the order of their keys, so that two imports of the
 * same users cannot deadlock. It skips rows that already exist. Then the counts are too small, and the caller must roll
 * back.
 */
const insertAll = statement<InsertValues, { identities: number; users: number }>(
  'import_insert',
  (p) => sql`
  with
    requested as materialized (
      select * from json_to_recordset(${p.users}::json) as entry (
        id uuid, ${storedDefinitions}, created_at timestamptz)
    ),
    clock as materialized (select db_now() as now),
    claimed as (
      insert into identities (digest, user_id, type, canonical)
      select decode(digest, 'hex') as key, user_id, type, canonical
      from json_to_recordset(${p.identities}::json) as claim (digest text, user_id uuid, type text, canonical text)
      order by key
      on conflict (digest) do nothing
      returning 1
    ),
    inserted as (
      insert into users (id, ${storedNames}, created_at, updated_at)
      select id, ${storedValues}, coalesce(created_at, now), now
      from requested cross join clock
      order by id
      on conflict (id) do nothing
      returning 1
    ),
    heads as (
      insert into inboxes (user_id) select id from requested order by id on conflict (user_id) do nothing
    ),
    recorded as (
      insert into events (user_id, id, type, actor, address, request_id, created_at)
      select requested.id, gen_random_uuid(), 'user.created', ${p.actor}, ${p.address}::inet, ${p.requestId}, now
      from requested cross join clock
    )
  select (select count(*) from claimed) as identities, (select count(*) from inserted) as users`,
);

/** @returns whether all users were inserted. If not, the transaction must not commit. */
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
  const { actor, clientAddress: address = null, requestId = null } = origin;
  const [counts] = await tx.query(
    insertAll({ users: JSON.stringify(users), identities: JSON.stringify(claims), actor, address, requestId }),
  );
  return counts?.identities === claims.length && counts.users === users.length;
}
