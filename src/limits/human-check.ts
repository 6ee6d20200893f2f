import { createHash, randomBytes, randomInt } from 'node:crypto';
import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { sha256 } from '../lib/crypto/digests.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { parseJsonObject } from '../lib/json-object.js';
import { Problem } from '../lib/problem.js';
import { type LimitCounts, network, type RequestCount } from './limit-counts.js';
import { readMessageLimits, readRequestLimits } from './limit-states.js';

/**
 * A proof of work in the format of ALTCHA (version 1). It makes it expensive to request codes and guests in large numbers, and
 * costs a person about a second.
 */
export interface HumanCheck {
  /**
   * Accepts a request with a fresh solution, or from a known device. Call it after the validation and before the request is counted:
   * a request that it refuses takes no part of a limit, and one that a limit will refuse needs no solution.
   * @throws Problem `human_check_required` with a challenge; `too_many_requests`
   */
  pass(request: HumanRequest): Promise<void>;
}

/** What a request asks for. A solution is valid for one such request. */
export interface HumanRequest {
  readonly purpose: 'login' | 'registration' | 'recovery' | 'guest' | 'address';
  /** `human_check` of the request. */
  readonly token: string | undefined;
  /** Undefined for a guest. */
  readonly identity?: { readonly type: string; readonly canonical: string; readonly digest: Buffer };
  readonly deviceId?: string | undefined;
  /** Whether it sends an SMS, which costs money. */
  readonly sendsSms?: boolean;
  readonly clientAddress: string | undefined;
}

/** The largest number to try while the limits of SMS are unused, and how many times more while they are used up. */
const work = { least: 50_000, factor: 16 };
/** Seconds in which a challenge can be solved. */
const lifetime = 600;

const findKnown = statement<{ digest: Buffer; deviceId: string }, { id: string }>(
  'human_check_device',
  (p) => sql`
  select d.id from identities i join devices d on d.user_id = i.user_id and d.id = ${p.deviceId}
  where i.digest = ${p.digest}`,
);

/** How full the fullest of some request limits is, from 0 to 1, and the time. */
const readFill = statement<
  { keys: readonly (Buffer | null)[]; windows: readonly number[] },
  { fill: number; now: number }
>(
  'human_check_fill',
  (p) => sql`
  select extract(epoch from db_now())::float8 as now,
         coalesce((
           select max(least(1, greatest(0, extract(epoch from l.refilled_at - db_now()) / requested.seconds)))
           from unnest(${p.keys}::bytea[], ${p.windows}::float8[]) as requested (key, seconds)
           join request_limits l on l.key = requested.key), 0)::float8 as fill`,
);

/** A limit of one request for the lifetime of the challenge: a solution is accepted once, on every instance. */
const useOnce = statement<{ key: Buffer; expires: number; window: number }, { is_used: boolean }>(
  'human_check_use',
  (p) => sql`
  select case when to_timestamp(${p.expires}::float8) > db_now()
              then take_request(${p.key}, 1, ${p.window}) is not null else true end as is_used`,
);

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** Creates the check. */
export function createHumanCheck({
  database,
  keys,
  counts,
}: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly counts: LimitCounts;
}): HumanCheck {
  /** A challenge is bound to what it was made for, so that cheap ones cannot be used for expensive requests. */
  const signed = ({ purpose, identity, sendsSms = false }: HumanRequest, salt: string, challenge: string) =>
    `${purpose}\n${sendsSms ? 'sms' : ''}\n${identity?.digest.toString('hex') ?? ''}\n${salt}\n${challenge}`;

  async function isKnownDevice({ identity, deviceId }: HumanRequest): Promise<boolean> {
    if (identity === undefined || deviceId === undefined) return false;
    return (await database.query(findKnown({ digest: identity.digest, deviceId }))).length > 0;
  }

  /** @throws Problem `too_many_requests` if a limit will refuse the request */
  async function refuseLimited({ purpose, identity, clientAddress }: HumanRequest): Promise<void> {
    const limits: RequestCount[] = [counts.loginsFrom(clientAddress)];
    limits.push(purpose === 'guest' ? counts.guestsFrom(clientAddress) : counts.messagesFrom(clientAddress).count);
    const used = await readRequestLimits(
      database,
      limits.map((limit) => ({ ...limit, position: 1 })),
    );
    const messages =
      identity === undefined ? [] : await readMessageLimits(database, [counts.messagesOf(identity.digest, undefined)]);
    const waits = [...used, ...messages].flatMap((limit) => (limit === undefined ? [] : [limit.wait]));
    if (waits.length > 0) throw new Problem('too_many_requests', { retryAfter: Math.ceil(Math.max(...waits)) });
  }

  /** Whether the token solves a challenge for this request, and was not used before. Then it is used. */
  async function use(request: HumanRequest): Promise<boolean> {
    const { token = '' } = request;
    const { algorithm, challenge, number, salt, signature } =
      parseJsonObject(Buffer.from(token, 'base64').toString()) ?? {};
    if (algorithm !== 'SHA-256' || typeof number !== 'number' || !Number.isSafeInteger(number)) return false;
    if (typeof challenge !== 'string' || typeof salt !== 'string' || typeof signature !== 'string') return false;
    const [, expires] = /^[0-9a-f]{24}\?expires=(\d{10,11})$/.exec(salt) ?? [];
    if (expires === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
    if (!keys.matches('human_check', signed(request, salt, challenge), Buffer.from(signature, 'hex'))) return false;
    if (hash(`${salt}${number}`) !== challenge) return false;
    const key = sha256(`human check\n${challenge}`).subarray(0, 16);
    const handle = database.user(network(request.clientAddress));
    const [row] = await handle.query(useOnce({ key, expires: Number(expires), window: lifetime }));
    return row?.is_used === false;
  }

  async function createChallenge(request: HumanRequest) {
    const { identity, sendsSms } = request;
    const limits = sendsSms && identity !== undefined ? [counts.smsInTotal, counts.smsOfPrefix(identity)] : [];
    const [state] = await database.query(
      readFill({ keys: limits.map(({ limitKey }) => limitKey), windows: limits.map(({ limitWindow }) => limitWindow) }),
    );
    const { fill = 0, now = 0 } = state ?? {};
    const maxnumber = Math.round(work.least * (1 + (work.factor - 1) * fill));
    const salt = `${randomBytes(12).toString('hex')}?expires=${Math.floor(now) + lifetime}`;
    const challenge = hash(`${salt}${randomInt(maxnumber + 1)}`);
    const signature = keys.digest('human_check', signed(request, salt, challenge)).toString('hex');
    return { algorithm: 'SHA-256', challenge, maxnumber, salt, signature };
  }

  return {
    async pass(request) {
      if (await isKnownDevice(request)) return;
      await refuseLimited(request);
      if (request.token !== undefined && (await use(request))) return;
      const members = { human_check: { type: 'altcha', challenge: await createChallenge(request) } };
      throw new Problem('human_check_required', { members });
    },
  };
}
