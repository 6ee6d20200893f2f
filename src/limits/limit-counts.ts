import ipaddr from 'ipaddr.js';
import type { MessageChannel } from '../contract/administration.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { smsPrefix } from '../messages/sms-admission.js';

/** The recipient of a message. */
export interface Recipient {
  readonly userId: string;
  readonly channel: MessageChannel;
  /** The identity that the request names. */
  readonly identity: { readonly type: string; readonly canonical: string };
  /**
   * The recipient's address. Undefined: the message is not sent, and it is counted under the user id, which may be a
   * derived id (of an identity without an account).
   */
  readonly address: string | undefined;
  readonly knownDevice: string | undefined;
}

/** A counted kind of request and its limit, as values of a statement. */
export interface RequestCount {
  /** Null without a limit. */
  readonly limitKey: Buffer | null;
  /** Requests in a window; 0: no limit. */
  readonly limitSize: number;
  /** Seconds. */
  readonly limitWindow: number;
}

/** The sizes of the limits: requests in a window. 0: no limit. */
export interface LimitCountsOptions {
  readonly keys: SecretKeys;
  /** Logins per minute, for each address and for each account. */
  readonly loginsPerAddress: number;
  /** Codes per hour: for each address, for each prefix of phone numbers, and in total. */
  readonly messagesPerAddress: number;
  readonly messagesPerPrefix: number;
  readonly messagesInTotal: number;
}

/** The key and the size of each limit: for the login, which counts, and for the diagnosis, which only reads. */
export interface LimitCounts {
  loginsFrom(address: string | undefined): RequestCount;
  loginsTo(userId: string, knownDevice: string | undefined): RequestCount;
  messagesFrom(address: string | undefined): { readonly count: RequestCount; readonly recentCodesKey: Buffer };
  /** The key of the codes of an identity, by its digest. */
  messagesOf(identity: Buffer, knownDevice: string | undefined): Buffer;
  /** The key of the codes to an address. */
  messagesTo(recipient: Pick<Recipient, 'userId' | 'address' | 'knownDevice'>): Buffer;
  guestsFrom(address: string | undefined): RequestCount;
  /** Changes that a user makes to the own account without re-authentication. */
  ownChangesOf(userId: string): RequestCount;
  /** Changes of a user's own username. */
  ownUsernamesOf(userId: string): RequestCount;
  /** Changes of the states of a user's own notifications. */
  ownStatesOf(userId: string): RequestCount;
  smsOfPrefix(identity: Recipient['identity']): RequestCount;
  readonly smsInTotal: RequestCount;
}

const minute = 60;
const hour = 3600;
/** Changes of a user's own name, language and descriptions of devices in an hour. Each one writes an audit event. */
const maxOwnChanges = 100;
/** Changes of a user's own username in an hour. Each one reveals whether a username is taken (ASVS 5.0, 2.4.1 and 6.3.8). */
const maxOwnUsernames = 20;
/** Changes of the states of a user's own notifications in an hour. Each one can write an event for webhooks. */
const maxOwnStates = 1000;

/** Guests that a client address makes in an hour. */
const maxGuests = 20;

/** Creates the keys and sizes of all limits from the settings. */
export function createLimitCounts(options: LimitCountsOptions): LimitCounts {
  /**
   * The key of a limit, of fixed length. It is a keyed digest: from a plain digest, an attacker could find an address
   * or a phone number by trying all of them.
   */
  function keyOf(kind: string, subject: string): Buffer {
    return options.keys.digest('limit', `${kind}\n${subject}`).subarray(0, 16);
  }

  function requestCount(kind: string, subject: string, limitSize: number, limitWindow: number): RequestCount {
    return { limitKey: limitSize === 0 ? null : keyOf(kind, subject), limitSize, limitWindow };
  }

  return {
    loginsFrom: (address) => requestCount('login-from', network(address), options.loginsPerAddress, minute),
    loginsTo: (userId, knownDevice) =>
      requestCount('login-to', `${userId} ${knownDevice ?? ''}`, options.loginsPerAddress, minute),
    messagesFrom(address) {
      const from = network(address);
      const count = requestCount('message-from', from, options.messagesPerAddress, hour);
      return { count, recentCodesKey: keyOf('message-turn', from) };
    },
    messagesOf: (identity, knownDevice) => keyOf('message-of', `${identity.toString('hex')} ${knownDevice ?? ''}`),
    messagesTo({ userId, address, knownDevice }) {
      // Messages of unknown identities are counted too, so that they take the same time.
      const kind = address === undefined ? 'message-to-nobody' : 'message-to';
      return keyOf(kind, `${address ?? userId} ${knownDevice ?? ''}`);
    },
    guestsFrom: (address) => requestCount('guest-from', network(address), maxGuests, hour),
    ownChangesOf: (userId) => requestCount('own-change', userId, maxOwnChanges, hour),
    ownUsernamesOf: (userId) => requestCount('own-username', userId, maxOwnUsernames, hour),
    ownStatesOf: (userId) => requestCount('own-states', userId, maxOwnStates, hour),
    smsOfPrefix: (identity) => requestCount('sms-prefix', prefixOf(identity), options.messagesPerPrefix, hour),
    smsInTotal: requestCount('sms-total', '', options.messagesInTotal, hour),
  };
}

/**
 * The prefix under which an SMS is counted, in addition to the total: `+` and six digits, which identify country and
 * network. It comes from the request and not from the account, so the count does not reveal whether there is an account
 * (decision 6). All requests without a phone number are counted together.
 */
function prefixOf({ type, canonical }: Recipient['identity']): string {
  return type === 'phone' ? smsPrefix(canonical) : 'no number';
}

/**
 * The network under which an address is counted. For IPv6 it is the /64, because one customer has all addresses of a
 * /64. IPv4-mapped addresses are counted as IPv4, and so are those behind a NAT64, which share one /64.
 */
export function network(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  if (isNat64(parsed)) return new ipaddr.IPv4(parsed.toByteArray().slice(-4)).toString();
  const subnet = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${subnet.join(':')}::/64`;
}

/**
 * Whether an address has the well-known prefix 64:ff9b::/96 (RFC 6052), or is one of a /96 in the prefix for local use,
 * 64:ff9b:1::/48 (RFC 8215). The last four bytes are the IPv4 address, as in every prefix of 96 bits.
 */
function isNat64({ parts }: ipaddr.IPv6): boolean {
  if (parts[0] !== 0x64 || parts[1] !== 0xff9b) return false;
  return parts[2] === 1 || parts.slice(2, 6).every((part) => part === 0);
}
