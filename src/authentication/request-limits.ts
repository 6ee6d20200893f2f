import ipaddr from 'ipaddr.js';
import type { MessageChannel } from '../contract/administration.js';
import { type Database, prepared, type Queryable } from '../database/database.js';
import { Problem } from '../lib/problem.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import type { Identity } from './identities/identity.js';

/** How often an address or an account may ask; counted in the database, so that instances share it. */
export interface RequestLimits {
  /**
   * Counts a login request of either step against the client's address.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  loginFrom(address: string | undefined): Promise<void>;
  /**
   * Counts it against the account that it is about, known or not, apart for known devices: a stranger cannot use up the
   * owner's.
   * @throws Problem `too_many_requests`
   */
  loginTo(userId: string, knownDevice: string | undefined): Promise<void>;
  /** What the two count, for a statement that counts it along with what else it does. */
  ofAddress(address: string | undefined): RequestCount;
  ofAccount(userId: string, knownDevice: string | undefined): RequestCount;
  /**
   * Counts a code that an address asks for.
   * @returns its turn: how many codes the address has asked for lately, this one included
   * @throws Problem `too_many_requests`
   */
  messageFrom(address: string | undefined): Promise<number>;
  /**
   * Counts a code that an identity asks for: one a minute, five an hour, ten a day, apart for known devices so that a
   * stranger cannot use up the owner's. The same for identities that name nobody.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  messageOf(identity: Buffer, knownDevice: string | undefined): Promise<void>;
  /**
   * Counts a code that is about to be sent to a recipient.
   * @returns false when it must not be sent. The client does not learn that: it would link the account's identities.
   */
  messageTo(recipient: Recipient): Promise<boolean>;
}

/** Where a message goes. */
export interface Recipient {
  readonly userId: string;
  readonly channel: MessageChannel;
  /** The identity that the request names. */
  readonly identity: Identity;
  /** Undefined: nobody gets the message. It is counted under the user id, which may be a stand-in. */
  readonly address: string | undefined;
  readonly knownDevice: string | undefined;
}

/** What is counted, how many there may be in a window (0: any number, and no key), and the window in seconds. */
export type RequestCount = readonly [key: Buffer | null, size: number, window: number];

/** SQL: counts a request, of a `RequestCount` as parameters; the seconds to wait, or null where it may go on. */
export const countRequest = (key: string, size: string, window: string) =>
  `case when ${size}::integer > 0 then take_request(${key}, ${size}::integer, ${window}::float8) end`;

/** @throws Problem `too_many_requests` where what was counted has to wait */
export function refuseEarly(seconds: number | null | undefined): void {
  if (seconds) throw new Problem('too_many_requests', { retryAfter: Math.ceil(seconds) });
}

/** Requests per window; 0 is no limit. */
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

const takeRequest = prepared('limit_request', `select ${countRequest('$1::bytea', '$2', '$3')} as wait`);
/** Its commit waits for no disk, as that of other counts by address (decision 52). */
const takeTurn = prepared(
  'limit_turn',
  `with asked as materialized (select ${countRequest('$1::bytea', '$2', '$3')} as wait)
   select wait, case when wait is null then take_turn($4) end as turn, set_config('synchronous_commit', 'off', true) as flush
   from asked`,
);
const takeMessage = prepared('limit_message', 'select take_message($1) as wait');

export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { database, keys } = options;

  /** What is limited, as a key of one length. Keyed, because addresses and numbers are soon tried out. */
  function keyOf(kind: string, subject: string): Buffer {
    return keys.digest('limit', `${kind}\n${subject}`).subarray(0, 16);
  }

  const counted = (kind: string, subject: string, size: number, window: number): RequestCount => {
    return [size === 0 ? null : keyOf(kind, subject), size, window];
  };
  async function secondsToWait(count: RequestCount, handle: Queryable = database): Promise<number> {
    if (count[1] === 0) return 0;
    const [row] = await handle.query<{ wait: number | null }>(takeRequest, count);
    return row?.wait ?? 0;
  }
  async function demand(seconds: Promise<number>): Promise<void> {
    refuseEarly(await seconds);
  }
  async function messageWait(kind: string, subject: string): Promise<number> {
    const [row] = await database.query<{ wait: number | null }>(takeMessage, [keyOf(kind, subject)]);
    return row?.wait ?? 0;
  }

  const ofAddress: RequestLimits['ofAddress'] = (address) =>
    counted('login-from', network(address), options.loginsPerAddress, minute);
  const ofAccount: RequestLimits['ofAccount'] = (userId, knownDevice) =>
    counted('login-to', `${userId} ${knownDevice ?? ''}`, options.loginsPerAddress, minute);

  return {
    ofAddress,
    ofAccount,
    loginFrom: (address) => demand(secondsToWait(ofAddress(address))),
    // In the user's lane: the row is held for as long as a login waits for the guess that it is counted with.
    loginTo: (userId, knownDevice) => demand(secondsToWait(ofAccount(userId, knownDevice), database.lane(userId))),
    async messageFrom(address) {
      const from = network(address);
      const count = counted('message-from', from, options.messagesPerAddress, hour);
      const values = [...count, keyOf('message-turn', from)];
      const [row] = await database.query<{ wait: number | null; turn: number | null }>(takeTurn, values);
      refuseEarly(row?.wait);
      return row?.turn ?? 0;
    },
    messageOf: (identity, knownDevice) =>
      demand(messageWait('message-of', `${identity.toString('hex')} ${knownDevice ?? ''}`)),
    async messageTo({ userId, channel, identity, address, knownDevice }) {
      // Nobody's messages are counted too, so that they take the same time.
      const kind = address === undefined ? 'message-to-nobody' : 'message-to';
      const free = (await messageWait(kind, `${address ?? userId} ${knownDevice ?? ''}`)) === 0;
      // What every SMS costs, and where, is no matter of mail.
      if (channel !== 'sms') return free;
      const wait = await secondsToWait(counted('sms-prefix', prefixOf(identity), options.messagesPerPrefix, hour));
      const waitInTotal = await secondsToWait(counted('sms-total', '', options.messagesInTotal, hour));
      return free && wait === 0 && waitInTotal === 0;
    },
  };
}

/**
 * What an SMS is counted as, beside the total: `+` and six digits, which stand for country and network. It is read from
 * the request alone and not from the account, so that the count does not tell whether there is one (decision 57). All
 * requests that name no number are counted together.
 */
function prefixOf({ type, canonical }: Identity): string {
  return type === 'phone' ? canonical.slice(0, 7) : 'no number';
}

/** The network that an address is counted as: IPv6 by /64, since one customer has that many; IPv4-mapped forms as IPv4. */
export function network(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const subnet = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${subnet.join(':')}::/64`;
}
