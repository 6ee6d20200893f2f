import ipaddr from 'ipaddr.js';
import type { MessageChannel } from '../contract/administration.js';
import { type Database, prepared } from '../database/database.js';
import { Problem } from '../lib/problem.js';
import type { SecretKeys } from '../lib/secret-keys.js';

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
  /** Counts a code that an address asks for. @throws Problem `too_many_requests` */
  messageFrom(address: string | undefined): Promise<void>;
  /**
   * Counts a code that an identity asks for: one a minute, five an hour, ten a day, apart for known devices so that a
   * stranger cannot use up the owner's. The same for identities that name nobody.
   * @throws Problem `too_many_requests` with the seconds to wait
   */
  messageOf(identity: Buffer, knownDevice: string | undefined): Promise<void>;
  /**
   * Counts a code that is about to be sent to a recipient.
   * @returns false when it must not be sent. That is not told: it would link the account's identities.
   */
  messageTo(recipient: Recipient): Promise<boolean>;
}

/** Who gets a message; without an address nobody, and the same is counted under a stand-in. */
export interface Recipient {
  readonly userId: string;
  readonly channel: MessageChannel;
  readonly address: string | undefined;
  readonly knownDevice: string | undefined;
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

const takeRequest = prepared('limit_request', 'select take_request($1, $2, $3) as wait');
const takeMessage = prepared('limit_message', 'select take_message($1) as wait');

export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { database, keys } = options;

  /** What is limited, as a key of one length. Keyed, because addresses and numbers are soon tried out. */
  function keyOf(kind: string, subject: string): Buffer {
    return keys.digest('limit', `${kind}\n${subject}`).subarray(0, 16);
  }

  async function secondsToWait(kind: string, subject: string, size: number, window: number): Promise<number> {
    if (size === 0) return 0;
    const [row] = await database.query<{ wait: number | null }>(takeRequest, [keyOf(kind, subject), size, window]);
    return row?.wait ?? 0;
  }
  async function demand(seconds: Promise<number>): Promise<void> {
    const wait = await seconds;
    if (wait > 0) throw new Problem('too_many_requests', { retryAfter: Math.ceil(wait) });
  }
  async function messageWait(kind: string, subject: string): Promise<number> {
    const [row] = await database.query<{ wait: number | null }>(takeMessage, [keyOf(kind, subject)]);
    return row?.wait ?? 0;
  }

  return {
    loginFrom: (address) => demand(secondsToWait('login-from', network(address), options.loginsPerAddress, minute)),
    loginTo: (userId, knownDevice) =>
      demand(secondsToWait('login-to', `${userId} ${knownDevice ?? ''}`, options.loginsPerAddress, minute)),
    messageFrom: (address) => demand(secondsToWait('message-from', network(address), options.messagesPerAddress, hour)),
    messageOf: (identity, knownDevice) =>
      demand(messageWait('message-of', `${identity.toString('hex')} ${knownDevice ?? ''}`)),
    async messageTo({ userId, channel, address, knownDevice }) {
      // Nobody's messages are counted too, under keys that no real one has, so that they take the same time.
      const to = address ?? userId;
      const kind = address === undefined ? 'message-to-nobody' : 'message-to';
      const free = (await messageWait(kind, `${to} ${knownDevice ?? ''}`)) === 0;
      // What every SMS costs, and where, is no matter of mail.
      if (channel !== 'sms') return free;
      const prefix = await secondsToWait(`${kind}-prefix`, to.slice(0, prefixLength), options.messagesPerPrefix, hour);
      const total = await secondsToWait(`${kind}-total`, '', options.messagesInTotal, hour);
      return free && prefix === 0 && total === 0;
    },
  };
}

/** Characters of an E.164 number that stand for country and network: `+` and six digits. */
const prefixLength = 7;

/** The network that an address is counted as: IPv6 by /64, since one customer has that many; IPv4-mapped forms as IPv4. */
export function network(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const subnet = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${subnet.join(':')}::/64`;
}
