import type { Database, Queryable } from '../database/database.js';
import { type Parameters, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { createKeyedLimiter } from '../lib/concurrency-limiter.js';
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
   * Counts a login request toward the limit of its account, whether the account exists or not. The requests of each known
   * device are counted separately, so that other people cannot use up the limit of the owner.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countLoginByAccount(userId: string, knownDevice: string | undefined): Promise<void>;
  /**
   * Counts a change that a user makes to the own account with a session alone: 100 an hour.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countOwnChange(userId: string): Promise<void>;
  /**
   * Counts a request that changes the own username, and so tells whether the new one is taken: 20 an hour.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countOwnUsername(userId: string): Promise<void>;
  /**
   * Runs a request for a code: at most four of an address at a time, because each one commits several times and occupies a
   * connection meanwhile.
   * @throws Problem `overloaded` if too many requests of the address wait
   */
  inAddressQueue<T>(address: string | undefined, work: () => Promise<T>): Promise<T>;
  /** The key and the size of each limit. */
  readonly counts: LimitCounts;
  /** The parameters of `countRequest`, for a statement that replaces `countLoginByAddress` and also does other work. */
  loginCountByAddress(address: string | undefined): RequestCount;
  /** The parameters of `countRequest`, for a statement that replaces `countLoginByAccount`. */
  loginCountByAccount(userId: string, knownDevice: string | undefined): RequestCount;
  /**
   * Counts a request for a code toward the limit of the client's address.
   * @returns how many codes the address has requested recently, including this one
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countMessageByAddress(address: string | undefined): Promise<number>;
  /**
   * Counts a request for a code toward the limit of its identity, such as a phone number. The limit is one code a minute,
   * five an hour and ten a day. The requests of each known device are counted separately, so that other people cannot use
   * up the limit of the owner. Requests for unknown identities are counted in the same way.
   * @returns when the identity may request the next code
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countMessageByIdentity(identity: Buffer, knownDevice: string | undefined): Promise<string>;
  /**
   * Counts a code toward the limit of its recipient. Call it before the code is sent.
   * @returns false if the code must not be sent. Do not show this to the client: the client could find out which identities
   * belong to the same account.
   */
  countMessageToRecipient(recipient: Recipient): Promise<boolean>;
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
const takeMessage = statement<{ key: Buffer }, WaitRow & { readonly free_at: string }>(
  'limit_message',
  (p) => sql`select wait, free_at from take_message_slot(${p.key})`,
);

const addressQueue = { concurrency: 4, maxWaiting: 200, timeoutMs: 2000 };

/** Creates the request limits. One statement counts a request toward one limit. */
export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { database } = options;
  const counts = createLimitCounts(options);
  const inQueue = createKeyedLimiter(addressQueue);

  async function secondsToWait(count: RequestCount, handle: Queryable = database): Promise<number> {
    if (count.limitSize === 0) return 0;
    const [row] = await handle.query(takeRequest(count));
    return row?.wait ?? 0;
  }
  async function countOwn(userId: string, count: RequestCount): Promise<void> {
    const [row] = await database.user(userId).query(takeAccountRequest(count));
    refuseOverLimit(row?.wait);
  }
  async function countMessage(key: Buffer) {
    const [row] = await database.query(takeMessage({ key }));
    if (row === undefined) throw new Error('a function returned no row');
    return row;
  }

  return {
    inAddressQueue: (address, work) => inQueue(network(address), work),
    counts,
    loginCountByAddress: counts.loginsFrom,
    loginCountByAccount: counts.loginsTo,
    async countLoginByAddress(address) {
      refuseOverLimit(await secondsToWait(counts.loginsFrom(address), database.user(network(address))));
    },
    async countLoginByAccount(userId, knownDevice) {
      const count = counts.loginsTo(userId, knownDevice);
      if (count.limitSize === 0) return;
      // This runs in the user's queue, because a login locks this row while it waits for the row of its guess budget.
      const [row] = await database.user(userId).query(takeAccountRequest(count));
      refuseOverLimit(row?.wait);
    },
    countOwnChange: (userId) => countOwn(userId, counts.ownChangesOf(userId)),
    countOwnUsername: (userId) => countOwn(userId, counts.ownUsernamesOf(userId)),
    async countMessageByAddress(address) {
      const { count, recentCodesKey } = counts.messagesFrom(address);
      const [row] = await database.user(network(address)).query(countCodeRequest({ ...count, recentCodesKey }));
      refuseOverLimit(row?.wait);
      return row?.recent_codes ?? 0;
    },
    async countMessageByIdentity(identity, knownDevice) {
      const { wait, free_at } = await countMessage(counts.messagesOf(identity, knownDevice));
      refuseOverLimit(wait);
      return free_at;
    },
    async countMessageToRecipient(recipient) {
      const isWithinLimit = (await countMessage(counts.messagesTo(recipient))).wait === null;
      // The limits below restrict the cost of SMS. They do not apply to mail.
      if (recipient.channel !== 'sms') return isWithinLimit;
      const waitForPrefix = await secondsToWait(counts.smsOfPrefix(recipient.identity));
      const waitInTotal = await secondsToWait(counts.smsInTotal);
      return isWithinLimit && waitForPrefix === 0 && waitInTotal === 0;
    },
  };
}
