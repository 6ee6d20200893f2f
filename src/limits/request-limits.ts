import ipaddr from 'ipaddr.js';
import type { MessageChannel } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import { directoryStatement, type Parameters, type Sql, type SqlPart, sql, userStatement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { Problem } from '../lib/problem.js';

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
   * @returns false if it must not be sent. Do not tell the client: that would link the account's identities.
   */
  countMessageToRecipient(recipient: Recipient): Promise<boolean>;
}

/** The recipient of a message. */
export interface Recipient {
  readonly userId: string;
  readonly channel: MessageChannel;
  /** The identity that the request names. */
  readonly identity: { readonly type: string; readonly canonical: string };
  /**
   * The recipient's address. Undefined: the message is not sent, and it is counted under the user id, which may be a
   * derived id.
   */
  readonly address: string | undefined;
  readonly knownDevice: string | undefined;
}

/** What is counted, and its limit, as values of a statement. */
export interface RequestCount {
  /** Null without a limit. */
  readonly limitKey: Buffer | null;
  /** Requests in a window; 0: no limit. */
  readonly limitSize: number;
  /** Seconds. */
  readonly limitWindow: number;
}

/** SQL: counts a request. The value is the seconds to wait, or null if the request may continue. */
export function countRequest(count: { readonly key: SqlPart; readonly size: SqlPart; readonly window: SqlPart }): Sql {
  return sql`case when ${count.size}::integer > 0
                  then take_request(${count.key}::bytea, ${count.size}::integer, ${count.window}::float8) end`;
}

/** @throws Problem `too_many_requests` if the request that was counted has to wait */
export function refuseOverLimit(seconds: number | null | undefined): void {
  if (seconds) throw new Problem('too_many_requests', { retryAfter: Math.ceil(seconds) });
}

/** Requests in a window; 0 is no limit. */
export interface RequestLimitsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  /** Logins per minute, of an address and of an account. */
  readonly loginsPerAddress: number;
  /** Codes per hour. */
  readonly messagesPerAddress: number;
  readonly messagesPerPrefix: number;
  readonly messagesInTotal: number;
}

const minute = 60;
const hour = 3600;

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

export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { database, keys } = options;

  /**
   * The key of a limit, of fixed length. It is a keyed digest: from a plain one, an attacker could find an address or a
   * phone number by trying all of them.
   */
  function keyOf(kind: string, subject: string): Buffer {
    return keys.digest('limit', `${kind}\n${subject}`).subarray(0, 16);
  }

  function counted(kind: string, subject: string, limitSize: number, limitWindow: number): RequestCount {
    return { limitKey: limitSize === 0 ? null : keyOf(kind, subject), limitSize, limitWindow };
  }
  async function secondsToWait(count: RequestCount): Promise<number> {
    if (count.limitSize === 0) return 0;
    const [row] = await database.directory.query(takeRequest(count));
    return row?.wait ?? 0;
  }
  async function countMessage(kind: string, subject: string) {
    const [row] = await database.directory.query(takeMessage({ key: keyOf(kind, subject) }));
    if (row === undefined) throw new Error('a function returned no row');
    return row;
  }

  const ofAddress: RequestLimits['ofAddress'] = (address) =>
    counted('login-from', network(address), options.loginsPerAddress, minute);
  const ofAccount: RequestLimits['ofAccount'] = (userId, knownDevice) =>
    counted('login-to', `${userId} ${knownDevice ?? ''}`, options.loginsPerAddress, minute);

  return {
    ofAddress,
    ofAccount,
    async countLoginByAddress(address) {
      refuseOverLimit(await secondsToWait(ofAddress(address)));
    },
    async countLoginByAccount(userId, knownDevice) {
      const count = ofAccount(userId, knownDevice);
      if (count.limitSize === 0) return;
      // In the user's queue: a login holds this row while it waits for its guess.
      const [row] = await database.user(userId).query(takeAccountRequest(count));
      refuseOverLimit(row?.wait);
    },
    async countMessageByAddress(address) {
      const from = network(address);
      const count = counted('message-from', from, options.messagesPerAddress, hour);
      const [row] = await database.directory.query(takeTurn({ ...count, turnKey: keyOf('message-turn', from) }));
      refuseOverLimit(row?.wait);
      return row?.turn ?? 0;
    },
    async countMessageByIdentity(identity, knownDevice) {
      const { wait, free_at } = await countMessage('message-of', `${identity.toString('hex')} ${knownDevice ?? ''}`);
      refuseOverLimit(wait);
      return free_at;
    },
    async countMessageToRecipient({ userId, channel, identity, address, knownDevice }) {
      // Messages of unknown identities are counted too, so that they take the same time.
      const kind = address === undefined ? 'message-to-nobody' : 'message-to';
      const { wait: waitOfRecipient } = await countMessage(kind, `${address ?? userId} ${knownDevice ?? ''}`);
      const free = waitOfRecipient === null;
      // The limits for SMS limit their cost; mail has none.
      if (channel !== 'sms') return free;
      const wait = await secondsToWait(counted('sms-prefix', prefixOf(identity), options.messagesPerPrefix, hour));
      const waitInTotal = await secondsToWait(counted('sms-total', '', options.messagesInTotal, hour));
      return free && wait === 0 && waitInTotal === 0;
    },
  };
}

/**
 * The prefix under which an SMS is counted, besides the total: `+` and six digits, which identify country and network.
 * It comes from the request and not from the account, so the count does not reveal whether there is an account
 * (decision 57). All requests without a phone number are counted together.
 */
function prefixOf({ type, canonical }: Recipient['identity']): string {
  return type === 'phone' ? canonical.slice(0, 7) : 'no number';
}

/**
 * The network under which an address is counted. For IPv6 it is the /64, because one customer has all addresses of a
 * /64. IPv4-mapped addresses are counted as IPv4.
 */
export function network(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const subnet = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${subnet.join(':')}::/64`;
}
