import { recordEvent, recordServiceEvent } from '../../audit/events.js';
import {
  type IssuedTestIdentity,
  maxTestIdentityDays,
  type NewTestIdentity,
  type TestIdentity,
} from '../../contract/users/test-identity.js';
import { timeText } from '../../database/clock.js';
import type { Handle, Transaction } from '../../database/database.js';
import { type ListRequest, type Page, readPage } from '../../database/listing.js';
import { literal, sql, statement } from '../../database/sql.js';
import { canonicalIdentity, type Identity, identityDigest, maskAddress } from '../../identities/identity.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import { errorCodeOfUnreadableTime, parseTime } from '../../lib/times.js';
import { newCode } from '../codes.js';
import { contextOf } from './test-codes.js';

/** Test identities, as operators see and change them. An app store's reviewer logs in with one. */
export interface TestIdentities {
  /**
   * Creates a test identity. If the address has one that has ended, replaces it.
   * @throws Problem `validation_failed`, also for the address of a user with a role; `test_identity_exists`
   */
  create(tx: Transaction, input: NewTestIdentity, origin: Origin): Promise<IssuedTestIdentity>;
  list(request: ListRequest): Promise<Page<TestIdentity>>;
  /** @throws Problem `not_found` */
  get(id: string): Promise<TestIdentity>;
  /** @throws Problem `not_found` */
  remove(tx: Transaction, id: string, origin: Origin): Promise<void>;
}

export const testIdentityFilterFields: FilterFields = {
  id: { kind: 'id' },
  type: { kind: 'enum', values: ['email', 'phone'] },
  value: { kind: 'string', like: true },
  user_id: { kind: 'id' },
  expires_at: { kind: 'time' },
  created_at: { kind: 'time' },
};

const columns = sql`id, json_build_object('type', type, 'value', value) as identity, user_id, expires_at, created_by,
  created_at`;
const rows = sql`(
  select t.id, t.type, t.canonical as value, i.user_id, t.expires_at, t.created_by, t.created_at
  from test_identities t
    left join identities i on i.digest = t.digest and (t.user_id is null or t.user_id = i.user_id)) t`;

const findOne = statement<{ id: string }, TestIdentity>(
  'test_identity_get',
  (p) => sql`select ${columns} from ${rows} where id = ${p.id}`,
);

/** Whether a time is within the limits, by the clock of the database. */
const checkEnd = statement<{ end: string }, { is_future: boolean; is_near: boolean; latest: string }>(
  'test_identity_end',
  (p) => sql`
  select ${p.end}::timestamptz > now as is_future, ${p.end}::timestamptz <= latest as is_near,
         ${timeText(sql`latest`)} as latest
  from (select now, now + ${literal(maxTestIdentityDays)} * interval '1 day' as latest
        from (select db_now() as now) clock) times`,
);

const findOwner = statement<{ digest: Buffer }, { user_id: string }>(
  'test_identity_owner',
  (p) => sql`select user_id from identities where digest = ${p.digest}`,
);
const findRole = statement<{ userId: string }, { role: string }>(
  'test_identity_owner_role',
  (p) => sql`select role from users where id = ${p.userId}`,
);

interface Values {
  readonly id: string;
  readonly digest: Buffer;
  readonly type: string;
  readonly canonical: string;
  readonly userId: string | null;
  readonly encryptedCode: Buffer;
  readonly expiresAt: string;
  readonly createdBy: string;
}

/**
 * If there are parallel requests for one address, the first one inserts its row. The other requests wait and then find
 * that this row is in effect.
 */
const insertOne = statement<Values, { id: string }>(
  'test_identity_insert',
  (p) => sql`
  insert into test_identities (id, digest, type, canonical, user_id, encrypted_code, expires_at, created_by, created_at)
  values (${p.id}, ${p.digest}, ${p.type}, ${p.canonical}, ${p.userId}, ${p.encryptedCode}, ${p.expiresAt},
          ${p.createdBy}, db_now())
  on conflict (digest) do update set id = excluded.id, user_id = excluded.user_id,
    encrypted_code = excluded.encrypted_code, expires_at = excluded.expires_at, created_by = excluded.created_by,
    created_at = excluded.created_at
  where test_identities.expires_at <= db_now()
  returning id`,
);

const deleteOne = statement<{ id: string }, TestIdentity>(
  'test_identity_delete',
  (p) => sql`
  delete from test_identities where id = ${p.id}
  returning id, json_build_object('type', type, 'value', canonical) as identity, user_id, expires_at, created_by,
            created_at`,
);

/** Creates the administration of test identities. `test-codes.ts` uses them in logins. */
export function createTestIdentities(options: {
  readonly database: Handle;
  readonly keys: SecretKeys;
  readonly defaultRegion: string | undefined;
}): TestIdentities {
  const { database, keys, defaultRegion } = options;

  /** @throws Problem `validation_failed` with all errors */
  async function check(tx: Transaction, input: NewTestIdentity) {
    const { type, value } = input.identity;
    const identity = canonicalIdentity(type, value, defaultRegion);
    const expiresAt = parseTime(input.expires_at);
    const errors: FieldError[] = [];
    if (identity === undefined) errors.push({ field: 'identity.value', code: 'invalid_identity', params: { type } });
    if (expiresAt === undefined)
      errors.push({ field: 'expires_at', code: errorCodeOfUnreadableTime(input.expires_at) });
    else errors.push(...(await endErrors(tx, expiresAt)));
    const userId = identity && (await ownerOf(tx, identity));
    if (userId !== undefined && (await hasRole(tx, userId)))
      errors.push({ field: 'identity', code: 'identity_of_operator' });
    throwIfErrors(errors);
    if (identity === undefined || expiresAt === undefined) throw new Error('unreachable: the errors were thrown above');
    return { identity, expiresAt, userId };
  }

  return {
    async create(tx, input, origin) {
      const { identity, expiresAt, userId } = await check(tx, input);
      const { code = newCode() } = input;
      const id = newId();
      const inserted = await tx.query(
        insertOne({
          id,
          ...identity,
          expiresAt,
          digest: identityDigest(identity),
          userId: userId ?? null,
          encryptedCode: keys.encrypt(code, contextOf(id)),
          createdBy: origin.actor,
        }),
      );
      if (inserted.length === 0) throw new Problem('test_identity_exists');
      const [testIdentity] = await tx.query(findOne({ id }));
      if (testIdentity === undefined) throw new Error('an insert returned no row');
      await record(tx, 'test_identity.created', testIdentity, origin);
      return { ...testIdentity, code };
    },
    list: (request) => readPage<TestIdentity>(database, { columns, from: rows }, request),
    async get(id) {
      const [testIdentity] = await database.query(findOne({ id }));
      if (testIdentity === undefined) throw new Problem('not_found');
      return testIdentity;
    },
    async remove(tx, id, origin) {
      const [testIdentity] = await tx.query(deleteOne({ id }));
      if (testIdentity === undefined) throw new Problem('not_found');
      await record(tx, 'test_identity.deleted', testIdentity, origin);
    },
  };
}

/** Records an event about the user of the address, if there is one. The event outlives the user, so it masks the address. */
async function record(
  tx: Transaction,
  type: 'test_identity.created' | 'test_identity.deleted',
  { id, identity, user_id: userId, expires_at }: TestIdentity,
  origin: Origin,
): Promise<void> {
  const identityMask = maskAddress({ type: identity.type, canonical: identity.value });
  const data = { test_identity_id: id, identity_type: identity.type, identity: identityMask, expires_at };
  if (userId === null) await recordServiceEvent(tx, { type, origin, data });
  else await recordEvent(tx, { userId, type, origin, data });
}

async function endErrors(tx: Transaction, end: string): Promise<FieldError[]> {
  const [row] = await tx.query(checkEnd({ end }));
  if (row?.is_future !== true) return [{ field: 'expires_at', code: 'time_in_past' }];
  return row.is_near ? [] : [{ field: 'expires_at', code: 'too_large', params: { max: row.latest } }];
}

async function ownerOf(tx: Transaction, identity: Identity): Promise<string | undefined> {
  const [owner] = await tx.query(findOwner({ digest: identityDigest(identity) }));
  return owner?.user_id;
}

/** A role counts even if it is not in effect yet: the user is about to become an operator. */
async function hasRole(tx: Transaction, userId: string): Promise<boolean> {
  const [user] = await tx.query(findRole({ userId }));
  return user !== undefined && user.role !== 'user';
}
