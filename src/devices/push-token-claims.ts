import type { Database, Queryable, Transaction } from '../database/database.js';
import { onEveryShard } from '../database/sharding/every-shard.js';
import { directoryStatement, everyoneStatement, sql, userStatement } from '../database/sql.js';
import { currentCause } from '../database/traced.js';
import { sha256 } from '../lib/crypto/digests.js';

/** The tokens that a device has claimed. The token of `web_push` is the endpoint. */
export interface ClaimedTokens {
  readonly apn: string | null;
  readonly gcm: string | null;
  readonly endpoint: string | null;
}

/**
 * A claim of tokens by a device. A job with it removes the tokens from the devices on other servers, or repeats a claim
 * that has failed.
 */
export interface Claim extends ClaimedTokens {
  readonly user_id: string;
  readonly device_id: string;
  /** An ordered id: that of a later claim is higher. */
  readonly claim: string;
}

interface ClaimValues {
  readonly claim: string;
  readonly digests: readonly Buffer[];
}

/**
 * Locks tokens, in the order of their digests. Claims and their jobs do this first, so that they do not wait for each other
 * on two servers. The server of the user commits first, and the job may then start: with this lock, it waits until the
 * server of the directory, which has the claims, has committed too.
 */
const lockTokens = directoryStatement<{ digests: readonly Buffer[] }>(
  'push_claims_lock',
  (p) => sql`
    select count(pg_advisory_xact_lock(hashtextextended('push token ' || encode(digest, 'hex'), 0)))
    from (select digest from unnest(${p.digests}::bytea[]) as digest order by digest) as tokens`,
);
const insertClaims = directoryStatement<ClaimValues>(
  'push_claims_insert',
  (p) => sql`
    insert into push_token_claims (digest, claim)
    select digest, ${p.claim}::uuid from unnest(${p.digests}::bytea[]) as digest
    on conflict (digest) do update set claim = excluded.claim`,
);
const replaceClaims = directoryStatement<ClaimValues, { digest: Buffer }>(
  'push_claims_replace',
  (p) => sql`
    update push_token_claims set claim = ${p.claim} where digest = any (${p.digests}::bytea[]) returning digest`,
);
const selectClaims = directoryStatement<{ claim: string; digests: readonly Buffer[] }, { digest: Buffer }>(
  'push_claims_select',
  (p) => sql`
    select digest from push_token_claims where digest = any (${p.digests}::bytea[]) and claim = ${p.claim}`,
);
const deleteClaims = directoryStatement<{ claim: string; digests: readonly Buffer[] }>(
  'push_claims_delete',
  (p) => sql`delete from push_token_claims where digest = any (${p.digests}::bytea[]) and claim = ${p.claim}`,
);
const selectLater = directoryStatement<ClaimValues, { digest: Buffer }>(
  'push_claims_later',
  (p) => sql`
    select digest from push_token_claims where digest = any (${p.digests}::bytea[]) and claim > ${p.claim}`,
);
const queueJob = userStatement<{ task: 'push.claim' | 'push.claim_again'; userId: string } & Omit<Claim, 'user_id'>>(
  'push_claims_queue',
  (p) => sql`
    select graphile_worker.add_job(${p.task}, json_build_object(
      'user_id', ${p.userId}::uuid, 'device_id', ${p.device_id}::uuid, 'claim', ${p.claim}::uuid, 'apn', ${p.apn}::text,
      'gcm', ${p.gcm}::text, 'endpoint', ${p.endpoint}::text, 'traceparent', ${currentCause}))`,
);
const removeTokens = everyoneStatement<Omit<Claim, 'claim'>>(
  'push_claims_remove',
  (p) => sql`
    update devices
    set apn_device_token = case when apn_device_token = ${p.apn} then null else apn_device_token end,
        gcm_device_token = case when gcm_device_token = ${p.gcm} then null else gcm_device_token end,
        web_push_subscription = case when web_push_subscription->>'endpoint' = ${p.endpoint} then null
                                else web_push_subscription end
    where (apn_device_token = ${p.apn} or gcm_device_token = ${p.gcm}
           or web_push_subscription->>'endpoint' = ${p.endpoint})
      and (user_id, id) <> (${p.user_id}, ${p.device_id})`,
);

const channels = ['apn', 'gcm', 'endpoint'] as const;
const digestOf = (channel: (typeof channels)[number], token: string) => sha256(`${channel} ${token}`);
const digestsOf = (tokens: ClaimedTokens) =>
  channels.flatMap((channel) => (tokens[channel] === null ? [] : [digestOf(channel, tokens[channel])]));

/** Begins a claim, before the transaction changes a device. The lock of the tokens lasts until the transaction ends. */
export async function beginClaim(tx: Transaction<'directory'>, tokens: ClaimedTokens): Promise<void> {
  await tx.query(lockTokens({ digests: digestsOf(tokens) }));
}

/**
 * Queues the removal of claimed tokens from the devices of users on other servers, which may be down now. Call it in
 * the transaction that gave the tokens to the device, after `beginClaim`.
 * @param isNew whether at least one token may be new to the device. If not, the function only replaces an existing claim of
 *   these tokens, and does nothing if there is none
 */
export async function queueClaim(
  tx: Transaction<'user' | 'directory'>,
  { user_id: userId, ...claim }: Claim,
  isNew: boolean,
): Promise<void> {
  const values = { claim: claim.claim, digests: digestsOf(claim) };
  if (isNew) await tx.query(insertClaims(values));
  else if ((await tx.query(replaceClaims(values))).length === 0) return;
  await tx.query(queueJob({ task: 'push.claim', userId, ...claim }));
}

/** Queues the repetition of a claim that has failed. */
export async function queueRepetition(handle: Queryable<'user'>, { user_id: userId, ...claim }: Claim): Promise<void> {
  await handle.query(queueJob({ task: 'push.claim_again', userId, ...claim }));
}

/** Leaves out the tokens that have been claimed since. Call it after `beginClaim`. */
export async function withoutLater(tx: Transaction<'directory'>, claim: Claim): Promise<Claim> {
  const later = await tx.query(selectLater({ claim: claim.claim, digests: digestsOf(claim) }));
  return only(claim, (digest) => later.every((row) => !row.digest.equals(digest)));
}

/** Leaves out the tokens whose digest is not accepted. */
function only(claim: Claim, accepts: (digest: Buffer) => boolean): Claim {
  const own = (channel: (typeof channels)[number]) => {
    const token = claim[channel];
    return token !== null && accepts(digestOf(channel, token)) ? token : null;
  };
  return { ...claim, apn: own('apn'), gcm: own('gcm'), endpoint: own('endpoint') };
}

/**
 * Removes claimed tokens from all other devices, unless another device has claimed them since. The lock of the tokens keeps
 * later claims waiting. It is safe to repeat.
 * @throws Problem `storage_unavailable` if a server does not answer
 */
export async function completeClaim(database: Database, job: Claim): Promise<void> {
  await database.directory.transaction(async (tx) => {
    const { claim } = job;
    await beginClaim(tx, job);
    const digests = (await tx.query(selectClaims({ claim, digests: digestsOf(job) }))).map(({ digest }) => digest);
    if (digests.length === 0) return;
    const own = only(job, (digest) => digests.some((claimed) => claimed.equals(digest)));
    await onEveryShard(database, async (shards) => {
      for (const shard of shards) await shard.everyone.query(removeTokens(own));
    });
    await tx.query(deleteClaims({ claim, digests }));
  });
}
