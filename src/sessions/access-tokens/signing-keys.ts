import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { recordServiceEvent } from '../../audit/events.js';
import type { SigningAlgorithm, SigningKey } from '../../contract/access-token.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';

/*
 * The keys that sign access tokens. Each algorithm has one key that signs, and the next one, which is published already, so that
 * a service that keeps the published keys knows it before it signs. The key that signs is the one with the latest `signs_since` that has
 * come: so a rotation can be planned, and happens on all instances at the same time of the database.
 */

/** How long the next key is published before it signs, unless the operator is in a hurry. */
const publishedBefore = sql`interval '24 hours'`;
/**
 * How long a key stays published after the next one has begun to sign: longer than the longest token (15 minutes), and than an answer
 * with the keys is cached.
 */
const publishedAfter = sql`interval '1 hour'`;

/** SQL: when the next key of the same algorithm began to sign; null if none did. */
const supersededAt = sql`(select min(n.signs_since) from signing_keys n
  where n.alg = k.alg and n.signs_since > k.signs_since and n.signs_since <= db_now())`;

/** SQL: whether verifiers may still need the key. */
const isPublished = sql`coalesce(${supersededAt} > db_now() - ${publishedAfter}, true)`;

/** SQL: a query of the public keys `key` that verifiers of access tokens need, with `alg`, `created_at` and `id`. */
export const publishedSigningKeys = sql`
  select k.public_key as key, k.alg, k.created_at, k.id from signing_keys k where ${isPublished}`;

/** No other lock uses this number. */
const lockKeys = statement<object>('signing_keys_lock', () => sql`select pg_advisory_xact_lock(7203415058)`);

/** SQL: every key `k` with its state. */
const selectStates = sql`
  select k.id::text as kid, k.alg, k.created_at, k.signs_since,
         case when k.signs_since is null then 'next' when k.signs_since > db_now() then 'planned'
              when ${supersededAt} is null then 'current' else 'former' end as state
  from signing_keys k`;
const orderOfUse = sql`order by k.alg, k.signs_since nulls last, k.created_at`;

const findStates = statement<object, SigningKey>('signing_keys_states', () => sql`${selectStates} ${orderOfUse}`);

const findPublishedStates = statement<object, SigningKey>(
  'signing_keys_published_states',
  () => sql`${selectStates} where ${isPublished} ${orderOfUse}`,
);

interface KeyValues {
  readonly id: string;
  readonly alg: SigningAlgorithm;
  readonly publicKey: string;
  readonly privateKey: Buffer;
  readonly signsNow: boolean;
}

const insertKey = statement<KeyValues>(
  'signing_key_insert',
  (p) => sql`
  insert into signing_keys (id, alg, public_key, private_key, created_at, signs_since)
  select ${p.id}, ${p.alg}, ${p.publicKey}::jsonb, ${p.privateKey}, now, case when ${p.signsNow}::boolean then now end
  from (select db_now() as now) clock`,
);

const planKey = statement<{ id: string; isAtOnce: boolean }, { signs_since: string }>(
  'signing_key_plan',
  (p) => sql`
  update signing_keys set signs_since = case when ${p.isAtOnce}::boolean then now else greatest(now, created_at + ${publishedBefore}) end
  from (select db_now() as now) clock where id = ${p.id} returning signs_since`,
);

const deleteKey = statement<{ id: string }>(
  'signing_key_delete',
  (p) => sql`delete from signing_keys where id = ${p.id}`,
);

const deleteFormer = statement<object>(
  'signing_keys_delete_former',
  () => sql`delete from signing_keys k where ${supersededAt} <= db_now() - ${publishedAfter}`,
);

/** The associated data of an encrypted private key. */
const contextOf = (id: string) => `signing-key:${id}`;

const generate = promisify(generateKeyPair);

async function createKey(tx: Queryable, keys: SecretKeys, alg: SigningAlgorithm, signsNow: boolean): Promise<string> {
  const id = newId();
  const { publicKey, privateKey } =
    alg === 'ES256' ? await generate('ec', { namedCurve: 'P-256' }) : await generate('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, use: 'sig', alg };
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await tx.query(
    insertKey({
      id,
      alg,
      signsNow,
      publicKey: JSON.stringify(jwk),
      privateKey: keys.encrypt(pem, contextOf(id)),
    }),
  );
  return id;
}

/** @returns the private key in PEM; undefined if no key of SECRET_KEY decrypts it */
export const decryptSigningKey = (keys: SecretKeys, id: string, encrypted: Buffer): string | undefined =>
  keys.decrypt(encrypted, contextOf(id));

/** Creates the keys of an algorithm if it has none: the first one signs at once. */
export async function ensureSigningKeys(tx: Queryable, keys: SecretKeys, alg: SigningAlgorithm): Promise<void> {
  await tx.query(lockKeys({}));
  const states = await tx.query(findStates({}));
  if (states.some((key) => key.alg === alg)) return;
  await createKey(tx, keys, alg, true);
  await createKey(tx, keys, alg, false);
}

/** The keys with their states, for operators: those of each algorithm in the order in which they sign. */
export const listSigningKeys = (handle: Queryable): Promise<SigningKey[]> => handle.query(findPublishedStates({}));

/**
 * `planned`: the next key signs once it was published for 24 hours. `now`: it signs at once. `revoke`: the current key is also
 * withdrawn at once: readers of revocations refuse its tokens, and others as soon as they read the keys again.
 */
export type RotationMode = 'planned' | 'now' | 'revoke';

/** What a rotation did for one algorithm. */
export interface RotatedKey {
  readonly alg: SigningAlgorithm;
  /** The id of the key that signs from `signs_since` on. */
  readonly kid: string;
  readonly signs_since: string;
}

/** Rotates the keys of every algorithm in use, in one transaction. A rotation that is planned already stays as it is. */
export async function rotateSigningKeys(
  tx: Queryable,
  keys: SecretKeys,
  mode: RotationMode,
  origin: Origin,
): Promise<RotatedKey[]> {
  await tx.query(lockKeys({}));
  await tx.query(deleteFormer({}));
  const states = await tx.query(findStates({}));
  const rotated: RotatedKey[] = [];
  for (const alg of new Set(states.map((key) => key.alg))) {
    const idOf = (state: SigningKey['state']) => states.find((key) => key.alg === alg && key.state === state)?.kid;
    const next = idOf('planned') ?? idOf('next') ?? (await createKey(tx, keys, alg, false));
    const isPlanned = idOf('planned') !== undefined;
    const [{ signs_since } = { signs_since: '' }] = await tx.query(planKey({ id: next, isAtOnce: mode !== 'planned' }));
    const current = idOf('current');
    if (mode === 'revoke' && current !== undefined) await tx.query(deleteKey({ id: current }));
    // A planned rotation has created the key after it already.
    if (!isPlanned || idOf('next') === undefined) await createKey(tx, keys, alg, false);
    rotated.push({ alg, kid: next, signs_since });
  }
  const data = { mode, kids: rotated.map(({ kid }) => kid) };
  await recordServiceEvent(tx, { type: 'signing_keys.rotated', origin, data });
  return rotated;
}
