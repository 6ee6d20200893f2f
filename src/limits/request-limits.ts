import type { Database } from '../database/database.js';
import { directoryStatement, type Parameters, type Sql, type SqlPart, sql, userStatement } from '../database/sql.js';
import { Problem } from '../lib/problem.js';
import {
  createLimitCounts,
  type LimitCounts,
  type LimitCountsOptions,
  type Recipient,
  type RequestCount,
} from './limit-counts.js';

/** Rate limits by address, account and recipient. The database counts, so all instances share the limits. */
export interface RequestLimits {
  /**
   * Counts a login request of either step against the client's address.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countLoginByAddress(address: string | undefined): Promise<void>;
  /**
   * Counts a login request against its account, known or not. Each known device is counted separately, so that others
   * cannot use up the limit of the owner.
   * @throws Problem `too_many_requests`
   */
  countLoginByAccount(userId: string, knownDevice: string | undefined): Promise<void>;
  /** The key and the size of each limit. */
  readonly counts: LimitCounts;
  /** The count of `countLoginByAddress`, for a statement that also does other work. */
  ofAddress(address: string | undefined): RequestCount;
  /** The count of `countLoginByAccount`. */
  ofAccount(userId: string, knownDevice: string | undefined): RequestCount;
  /**
   * Counts a code that an address requests.
   * @returns how many codes the address has requested recently, including this one
   * @throws Problem `too_many_requests`
   */
  countMessageByAddress(address: string | undefined): Promise<number>;
  /**
   * Counts a code that an identity requests: one a minute, five an hour, ten a day. Each known device is counted
   * separately, so that others cannot use up the limit of the owner. Unknown identities are counted in the same way.
   * @returns when the identity may request the next code
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  countMessageByIdentity(identity: Buffer, knownDevice: string | undefined): Promise<string>;
  /**
   * Counts a code before it is sent to a recipient.
   * @returns false if it must not be sent. Do not show this to the client: it would link the account's identities.
   */
  countMessageToRecipient(recipient: Recipient): Promise<boolean>;
}

/** SQL: counts a request. The value is the seconds to wait, or null if the request may continue. */
export function countRequest(count: { readonly key: SqlPart; readonly size: SqlPart; readonly window: SqlPart }): Sql {
  return sql`case when ${count.size}::integer > 0
                  then take_request(${count.key}::bytea, ${count.size}::integer, ${count.window}::float8) end`;
}

/** The refusal of a request that has to wait; undefined if it does not. */
export function overLimit(seconds: number | null | undefined): Problem | undefined {
  return seconds ? new Problem('too_many_requests', { retryAfter: Math.ceil(seconds) }) : undefined;
}

/** @throws Problem `too_many_requests` if the request that was counted has to wait */
export function refuseOverLimit(seconds: number | null | undefined): void {
  const refusal = overLimit(seconds);
  if (refusal !== undefined) throw refusal;
}

/** The limits, and the database that counts. */
export interface RequestLimitsOptions extends LimitCountsOptions {
  readonly database: Database;
}

interface WaitRow {
  readonly wait: number | null;
}

/** SQL: counts a `RequestCount`. */
const countOf = (p: Parameters<RequestCount>) =>
  countRequest({ key: p.limitKey, size: p.limitSize, window: p.limitWindow });

const takeRequest = directoryStatement<RequestCount, WaitRow>(
  'limit_request',
  (p) => sql`select ${countOf(p)} as wait`,
);
const takeAccountRequest = userStatement<RequestCount, WaitRow>(
  'limit_account_request',
  (p) => sql`select ${countOf(p)} as wait`,
);
/** The commit of this count does not wait for the disk, as with other counts by address (decision 52). */
const takeTurn = directoryStatement<RequestCount & { turnKey: Buffer }, WaitRow & { readonly turn: number | null }>(
  'limit_turn',
  (p) => sql`
  with counted as materialized (select ${countOf(p)} as wait)
  select wait, case when wait is null then take_turn(${p.turnKey}) end as turn,
         set_config('synchronous_commit', 'off', true) as flush
  from counted`,
);
const takeMessage = directoryStatement<{ key: Buffer }, WaitRow & { readonly free_at: string }>(
  'limit_message',
  (p) => sql`select wait, free_at from take_message_slot(${p.key})`,
);

/** Creates the request limits. Each count is one statement. */
export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { database } = options;
  const counts = createLimitCounts(options);

  async function secondsToWait(count: RequestCount): Promise<number> {
    if (count.limitSize === 0) return 0;
    const [row] = await database.directory.query(takeRequest(count));
    return row?.wait ?? 0;
  }
  async function countMessage(key: Buffer) {
    const [row] = await database.directory.query(takeMessage({ key }));
    if (row === undefined) throw new Error('a function returned no row');
    return row;
  }

  return {
    counts,
    ofAddress: counts.loginsFrom,
    ofAccount: counts.loginsTo,
    async countLoginByAddress(address) {
      refuseOverLimit(await secondsToWait(counts.loginsFrom(address)));
    },
    async countLoginByAccount(userId, knownDevice) {
      const count = counts.loginsTo(userId, knownDevice);
      if (count.limitSize === 0) return;
      // In the user's queue: a login holds this row while it waits for its guess.
      const [row] = await database.user(userId).query(takeAccountRequest(count));
      refuseOverLimit(row?.wait);
    },
    async countMessageByAddress(address) {
      const { count, turnKey } = counts.messagesFrom(address);
      const [row] = await database.directory.query(takeTurn({ ...count, turnKey }));
      refuseOverLimit(row?.wait);
      return row?.turn ?? 0;
    },
    async countMessageByIdentity(identity, knownDevice) {
      const { wait, free_at } = await countMessage(counts.messagesOf(identity, knownDevice));
      refuseOverLimit(wait);
      return free_at;
    },
    async countMessageToRecipient(recipient) {
      const free = (await countMessage(counts.messagesTo(recipient))).wait === null;
      // The limits for SMS limit their cost; mail has none.
      if (recipient.channel !== 'sms') return free;
      const wait = await secondsToWait(counts.smsOfPrefix(recipient.identity));
      const waitInTotal = await secondsToWait(counts.smsInTotal);
      return free && wait === 0 && waitInTotal === 0;
    },
  };
}
