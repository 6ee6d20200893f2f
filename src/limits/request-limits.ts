import type { Database } from '../database/database.js';
import { type Parameters, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { createKeyedLimiter } from '../lib/concurrency-limiter.js';
import { sha256 } from '../lib/crypto/digests.js';
import { Problem } from '../lib/problem.js';
import {
  createLimitCounts,
  type LimitCounts,
  type LimitCountsOptions,
  network,
  type Recipient,
  type RequestCount,
} from './limit-counts.js';

/** Rate limits for each address, account and recipient. The database counts the requests, so all instances share the limits. */
export interface RequestLimits {
  /**
   * Counts a request of the first or second step of a login toward the limit of the client's address.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countLoginByAddress(address: string | undefined): Promise<void>;
  /**
   * Counts a login request toward the limit of its account, whether the account exists or not. The requests of each known device are
   * counted separately, so that other people cannot use up the limit of the owner.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countLoginByAccount(userId: string, knownDevice: string | undefined): Promise<void>;
  /**
   * Counts a change that a user makes to the own account with a session alone: 100 an hour.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countOwnChange(userId: string): Promise<void>;
  /** Counts a guest toward the limit of guests of the client's address. @throws Problem `too_many_requests` */
  countGuest(address: string | undefined): Promise<void>;
  /**
   * Counts a request that changes the user's own username, because it reveals whether the new one is taken: 20 an hour.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countOwnUsername(userId: string): Promise<void>;
  /**
   * Counts a change of the states of a user's own notifications, subscriptions or preferences: 1,000 an hour.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countOwnStates(userId: string): Promise<void>;
  /**
   * Runs a login that hashes a password: three of an address at a time, so that one address leaves connections to others, and one of an
   * account, so that an account whose row is locked delays no others of the same address. More of them run if the limit of addresses is
   * higher than the default, and all of them without a limit. The hashes wait for each other too: see `createHashQueue`.
   * @throws Problem `overloaded` if too many wait
   */
  inLoginQueue<T>(request: QueuedRequest, work: () => Promise<T>): Promise<T>;
  /**
   * Does the same for a request for a code, which takes more work in the database: two of an address at a time, with pauses while more of
   * them wait.
   * @throws Problem `overloaded` if too many wait
   */
  inCodeQueue<T>(request: QueuedRequest, work: () => Promise<T>): Promise<T>;
  /** The key and the size of each limit. */
  readonly counts: LimitCounts;
  /** The parameters of `countRequest`, for a statement that replaces `countLoginByAddress` and also does other work. */
  loginCountByAddress(address: string | undefined): RequestCount;
  /** The parameters of `countRequest`, for a statement that replaces `countLoginByAccount`. */
  loginCountByAccount(userId: string, knownDevice: string | undefined): RequestCount;
  /**
   * Counts a request for a code: toward the limits of the client's address, of its identity, such as a phone number, and of its recipient.
   * An identity and a recipient get one code a minute, five an hour and ten a day. The requests of each known device are counted
   * separately, so that other people cannot use up the limit of the owner. Requests for unknown identities are counted in the same way.
   * @throws Problem `too_many_requests` with the seconds to wait, if the limit of the address or of the identity is used up
   */
  countCode(request: CodeToCount): Promise<CountedCode>;
  /**
   * Counts a code that a user requests for a new address of the own account, in addition to `countCode`: as many as an identity gets.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countNewAddress(userId: string): Promise<void>;
  /**
   * Counts the SMS of a notification toward the limits of its prefix and of all SMS. The last fifth of each is kept for codes.
   * @returns the seconds to wait; 0: it may be sent
   */
  countNotificationSms(phone: string): Promise<number>;
  /** As `countNotificationSms`, but counts nothing. */
  waitForNotificationSms(phone: string): Promise<number>;
}

/** A request for an account, which may exist or not. */
export interface QueuedRequest {
  readonly userId: string;
  /** Null: an operator requests it, and no limit of an address holds. */
  readonly clientAddress: string | undefined | null;
}

/** A request for a code. */
export interface CodeToCount extends Recipient {
  /** Null: an operator requests it, and no limit of an address holds. */
  readonly clientAddress: string | undefined | null;
  /** The digest of the identity that the request names. */
  readonly identityDigest: Buffer;
}

/** A code that was counted. */
export interface CountedCode {
  /** How many codes the address has requested recently, including this one. */
  readonly recentCodes: number;
  /** When the identity may request the next code. */
  readonly resendAt: string;
  /**
   * False if the limit of the recipient, or one of all SMS, is used up. Then the code must not be sent. Do not show this to
   * the client: the client could find out which identities belong to the same account.
   */
  readonly mayBeSent: boolean;
}

/** SQL: counts a request. The value is the number of seconds to wait, or null if the request may continue. */
export function countRequest(count: { readonly key: SqlPart; readonly size: SqlPart; readonly window: SqlPart }): Sql {
  return sql`case when ${count.size}::integer > 0
                  then take_request(${count.key}::bytea, ${count.size}::integer, ${count.window}::float8) end`;
}

/** Returns the error for a request that has to wait; undefined if it may continue. */
export function overLimitProblem(seconds: number | null | undefined): Problem | undefined {
  return seconds ? new Problem('too_many_requests', { retryAfter: Math.ceil(seconds) }) : undefined;
}

/** @throws Problem `too_many_requests` if the request that was counted has to wait */
export function refuseOverLimit(seconds: number | null | undefined): void {
  const refusal = overLimitProblem(seconds);
  if (refusal !== undefined) throw refusal;
}

/** The sizes of the limits, and the database that counts the requests. */
export interface RequestLimitsOptions extends LimitCountsOptions {
  readonly database: Database;
}

interface WaitRow {
  readonly wait: number | null;
}

/** SQL: `countRequest` with the parameters of a `RequestCount`. */
const countByParameters = (p: Parameters<RequestCount>) =>
  countRequest({ key: p.limitKey, size: p.limitSize, window: p.limitWindow });

const takeRequest = statement<RequestCount, WaitRow>(
  'limit_request',
  (p) => sql`select ${countByParameters(p)} as wait`,
);
const takeAccountRequest = statement<RequestCount, WaitRow>(
  'limit_account_request',
  (p) => sql`select ${countByParameters(p)} as wait`,
);
/**
 * Counts a request for a code, and how many codes its address has requested recently. Commits without waiting for the disk, as
 * the first statement of a login does (decision 8).
 */
const countCodeRequest = statement<
  RequestCount & { recentCodesKey: Buffer },
  WaitRow & { readonly recent_codes: number | null }
>(
  'limit_code_request',
  (p) => sql`
  with counted as materialized (select ${countByParameters(p)} as wait)
  select wait, case when wait is null then take_turn(${p.recentCodesKey}) end as recent_codes,
         set_config('synchronous_commit', 'off', true) as flush
  from counted`,
);
/**
 * Counts a code toward the limits of its identity, its recipient, and of all SMS. If the identity has to wait, it counts
 * nothing else. The limits of all SMS come last, so that their rows are locked only until the commit, also while somebody
 * has locked the row of an identity or a recipient.
 *
 * The commit does not wait for the disk. A code is sent only after a later commit that does, and the log is written in the
 * order of the commits, so no crash loses the count of a code that was sent.
 */
const countMessage = statement<
  {
    identityKey: Buffer;
    recipientKey: Buffer;
    prefixKey: Buffer | null;
    prefixSize: number;
    totalKey: Buffer | null;
    totalSize: number;
    window: number;
  },
  WaitRow & { readonly free_at: string; readonly may_be_sent: boolean }
>(
  'limit_message_count',
  (p) => sql`
  with identity as materialized (select wait, free_at from take_message_slot(${p.identityKey})),
  recipient as materialized (
    select r.wait from identity i
    cross join lateral take_message_slot(case when i.wait is null then ${p.recipientKey}::bytea end) r
    where i.wait is null),
  prefix as materialized (
    select wait as recipient_wait,
           ${countRequest({ key: p.prefixKey, size: p.prefixSize, window: p.window })} as prefix_wait from recipient),
  total as materialized (
    select recipient_wait, prefix_wait,
           ${countRequest({ key: p.totalKey, size: p.totalSize, window: p.window })} as total_wait from prefix)
  select i.wait, i.free_at, coalesce(num_nonnulls(t.recipient_wait, t.prefix_wait, t.total_wait) = 0, false) as may_be_sent,
         set_config('synchronous_commit', 'off', true) as flush
  from identity i left join total t on true`,
);
const takeMessage = statement<{ key: Buffer }, WaitRow>(
  'limit_message',
  (p) => sql`select wait from take_message_slot(${p.key})`,
);

interface SmsCounts {
  readonly prefixKey: Buffer | null;
  readonly prefixSize: number;
  readonly totalKey: Buffer | null;
  readonly totalSize: number;
  readonly window: number;
}

/** SQL: the seconds until a limit has room for a notification. A limit below five keeps nothing for codes. */
const waitForRoom = (key: SqlPart, size: SqlPart, window: SqlPart): Sql => sql`coalesce((
    select extract(epoch from refilled_at - db_now())::float8
           - ${window}::float8 * (${size}::integer - ${size}::integer / 5 - 1) / nullif(${size}::integer, 0)
    from request_limits where key = ${key}::bytea), 0)`;

/** SQL: the seconds until a number, or all numbers together, have room for the SMS of a notification. */
const waitForSms = (p: Parameters<SmsCounts>): Sql =>
  sql`greatest(${waitForRoom(p.prefixKey, p.prefixSize, p.window)}, ${waitForRoom(p.totalKey, p.totalSize, p.window)}, 0)`;

const readNotificationSms = statement<SmsCounts, { wait: number }>(
  'limit_notification_sms_room',
  (p) => sql`select ${waitForSms(p)} as wait`,
);

const countNotificationSms = statement<SmsCounts, { wait: number }>(
  'limit_notification_sms',
  (p) => sql`
  with room as materialized (
    select ${waitForSms(p)} as wait),
  prefix as materialized (
    select room.wait, case when room.wait <= 0 then ${countRequest({ key: p.prefixKey, size: p.prefixSize, window: p.window })} end as prefix_wait
    from room),
  total as materialized (
    select wait, prefix_wait, case when wait <= 0 and prefix_wait is null
             then ${countRequest({ key: p.totalKey, size: p.totalSize, window: p.window })} end as total_wait from prefix)
  select greatest(wait, prefix_wait, total_wait, 0) as wait from total`,
);

/** How many requests may wait, and for how many milliseconds: less than the limit of time of a request. */
const queue = { maxWaiting: 200, timeoutMs: 10_000 };

/** While more requests of an address wait, a place stays empty for this many times as long as a request took. */
const rest = 3;

interface AddressQueue {
  /** How many requests run at a time by default. */
  readonly places: number;
  /** One more request runs at a time for each further `each` requests of the limit. */
  readonly each: number;
  /** See the limiter. */
  readonly rest: number;
}

/**
 * A queue for each address. A burst of one address takes longer, and costs others little.
 * @param limit how many requests an address may send; 0: any number, and then nothing waits
 */
function addressQueue(limit: number, { places, each, rest }: AddressQueue) {
  const inQueue = createKeyedLimiter({ ...queue, concurrency: Math.max(places, Math.ceil(limit / each)), rest });
  return <T>(address: string | undefined, work: () => Promise<T>): Promise<T> =>
    limit === 0 ? work() : inQueue(network(address), work);
}

/**
 * Creates the queue of the hashes of passwords and PINs: one of an address at a time, with pauses while more of them wait. A second hash of
 * the same address would take the second core of a small machine from others. More of them run if the limit of addresses is higher than the
 * default, and all of them without a limit. The work must be the hash alone: the next ones wait for it.
 * @param loginsPerAddress the limit of addresses; 0: none
 */
export const createHashQueue = (loginsPerAddress: number) =>
  addressQueue(loginsPerAddress, { places: 1, each: 300, rest });

/**
 * Creates the queues of requests. The requests of one address for one account run one after the other. Each address has its own queue, so
 * a stranger with many requests for an account makes nobody else wait.
 */
function createQueues({
  loginsPerAddress,
  messagesPerAddress,
}: RequestLimitsOptions): Pick<RequestLimits, 'inLoginQueue' | 'inCodeQueue'> {
  function inQueues(inAddressQueue: ReturnType<typeof addressQueue>): RequestLimits['inCodeQueue'] {
    // With pauses too: requests that wait here do not wait for a hash, and so cause no pause there.
    const inAccountQueue = createKeyedLimiter({ ...queue, concurrency: 1, rest });
    return ({ userId, clientAddress }, work) =>
      clientAddress === null
        ? inAccountQueue(userId, work)
        : inAccountQueue(`${network(clientAddress)} ${userId}`, () => inAddressQueue(clientAddress, work));
  }
  return {
    inLoginQueue:
      loginsPerAddress === 0
        ? (_request, work) => work()
        : // The hashes have pauses of their own.
          inQueues(addressQueue(loginsPerAddress, { places: 3, each: 100, rest: 0 })),
    inCodeQueue: inQueues(addressQueue(messagesPerAddress, { places: 2, each: 100, rest })),
  };
}

/** Creates the request limits. One statement counts a request toward one limit. */
export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { database } = options;
  const counts = createLimitCounts(options);
  const { inLoginQueue, inCodeQueue } = createQueues(options);

  async function countOwn(userId: string, count: RequestCount): Promise<void> {
    const [row] = await database.user(userId).query(takeAccountRequest(count));
    refuseOverLimit(row?.wait);
  }
  /** @returns the seconds to wait */
  async function notificationSms(phone: string, ask: typeof countNotificationSms): Promise<number> {
    const [prefix, total] = [counts.smsOfPrefix({ type: 'phone', canonical: phone }), counts.smsInTotal];
    if (prefix.limitSize === 0 && total.limitSize === 0) return 0;
    const [row] = await database.query(
      ask({
        prefixKey: prefix.limitKey,
        prefixSize: prefix.limitSize,
        totalKey: total.limitKey,
        totalSize: total.limitSize,
        window: total.limitWindow,
      }),
    );
    return row?.wait ?? 0;
  }

  /** @returns how many codes the address has requested recently, including this one */
  async function countByAddress(address: CodeToCount['clientAddress']): Promise<number> {
    if (address === null) return 0;
    const { count, recentCodesKey } = counts.messagesFrom(address);
    const [row] = await database.user(network(address)).query(countCodeRequest({ ...count, recentCodesKey }));
    refuseOverLimit(row?.wait);
    return row?.recent_codes ?? 0;
  }

  return {
    inLoginQueue,
    inCodeQueue,
    counts,
    loginCountByAddress: counts.loginsFrom,
    loginCountByAccount: counts.loginsTo,
    async countLoginByAddress(address) {
      const count = counts.loginsFrom(address);
      if (count.limitSize === 0) return;
      const [row] = await database.user(network(address)).query(takeRequest(count));
      refuseOverLimit(row?.wait);
    },
    async countLoginByAccount(userId, knownDevice) {
      const count = counts.loginsTo(userId, knownDevice);
      if (count.limitSize === 0) return;
      // This runs in the user's queue, because a login locks this row while it waits for the row of its guess budget.
      const [row] = await database.user(userId).query(takeAccountRequest(count));
      refuseOverLimit(row?.wait);
    },
    async countGuest(address) {
      const [row] = await database.user(network(address)).query(takeRequest(counts.guestsFrom(address)));
      refuseOverLimit(row?.wait);
    },
    countOwnChange: (userId) => countOwn(userId, counts.ownChangesOf(userId)),
    countOwnUsername: (userId) => countOwn(userId, counts.ownUsernamesOf(userId)),
    countOwnStates: (userId) => countOwn(userId, counts.ownStatesOf(userId)),
    async countCode({ clientAddress, identityDigest, ...recipient }) {
      const recentCodes = await countByAddress(clientAddress);
      const { identity, channel, knownDevice } = recipient;
      // The limits of prefixes and in total restrict the cost of SMS. They do not apply to mail.
      const [prefix, total] =
        channel === 'sms' ? [counts.smsOfPrefix(identity), counts.smsInTotal] : [notLimited, notLimited];
      const [row] = await database.query(
        countMessage({
          identityKey: counts.messagesOf(identityDigest, knownDevice),
          recipientKey: counts.messagesTo(recipient),
          prefixKey: prefix.limitKey,
          prefixSize: prefix.limitSize,
          totalKey: total.limitKey,
          totalSize: total.limitSize,
          window: total.limitWindow,
        }),
      );
      if (row === undefined) throw new Error('limit_message_count returned no row');
      refuseOverLimit(row.wait);
      return { recentCodes, resendAt: row.free_at, mayBeSent: row.may_be_sent };
    },
    countNotificationSms: (phone) => notificationSms(phone, countNotificationSms),
    waitForNotificationSms: (phone) => notificationSms(phone, readNotificationSms),
    async countNewAddress(userId) {
      const key = counts.messagesOf(sha256(`new address\n${userId}`), undefined);
      const [row] = await database.query(takeMessage({ key }));
      refuseOverLimit(row?.wait);
    },
  };
}

const notLimited: RequestCount = { limitKey: null, limitSize: 0, limitWindow: 0 };
