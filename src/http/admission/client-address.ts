import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether a proxy is trusted. `hop` is its number, counted from this server. */
export type TrustProxy = (address: string, hop: number) => boolean;

/** @param trust TRUST_PROXY: the number of proxies in a row, or addresses and ranges of proxies */
export function trustedProxies(trust: number | readonly string[] | undefined): TrustProxy | false {
  if (trust === undefined) return false;
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  const ranges = trust.map(rangeOf);
  return (address) => {
    if (isIP(address) === 0) return false;
    const parsed = ipaddr.process(address.replace(/%.*$/, ''));
    return ranges.some(([first, bits]) => first.kind() === parsed.kind() && parsed.match(first, bits));
  };
}

function rangeOf(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (!range.includes('/')) {
    const address = ipaddr.process(range);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  const [first, bits] = ipaddr.parseCIDR(range);
  const isMapped = first instanceof ipaddr.IPv6 && first.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [first.toIPv4Address(), bits - 96] : [first, bits];
}

/** The maximum number of header texts for which the address is remembered, for one peer. */
const maxRemembered = 10_000;
const maxPeers = 20;
/**
 * The maximum length of such a header text, in characters. A client chooses the start of the header, so longer headers
 * are not remembered: they could fill the memory.
 */
const maxRememberedLength = 100;

/**
 * Reads the address of the client from a request that the framework has not seen. The result is the same as that of
 * `clientAddress` for a request of the framework. From right to left, each entry of `X-Forwarded-For` is the address
 * that one trusted proxy saw.
 */
export function createAddressReader(isTrusted: TrustProxy | false): (request: IncomingMessage) => string {
  /** The addresses by peer, and then by header. Few peers are proxies. */
  const remembered = new Map<string, Map<string, string>>();
  return ({ socket, headers }) => {
    const peer = withoutZone(socket.remoteAddress ?? '0.0.0.0');
    const header = isTrusted === false ? undefined : headers['x-forwarded-for'];
    if (header === undefined || isTrusted === false) return peer;
    const text = String(header);
    const cached = remembered.get(peer)?.get(text);
    if (cached !== undefined) return cached;
    const address = bareAddress(clientOf(peer, text, isTrusted), peer);
    const ofPeer = remembered.get(peer) ?? new Map<string, string>();
    if (ofPeer.size >= maxRemembered) ofPeer.clear();
    if (remembered.size >= maxPeers) remembered.clear();
    if (text.length <= maxRememberedLength) remembered.set(peer, ofPeer.set(text, address));
    return address;
  };
}

function clientOf(peer: string, header: string, isTrusted: TrustProxy): string {
  const addresses = header
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .reverse();
  let address = peer;
  for (const [hop, next] of addresses.entries()) {
    if (!isTrusted(address, hop)) break;
    address = next;
  }
  return address;
}

/**
 * The address without the port or the zone that a proxy may send with it.
 * @param peer the address of the other end of the connection, which counts if the proxy sends no valid address
 */
export function bareAddress(address: string, peer: string): string {
  const addressOnly = withoutZone(
    address.replace(/^\[([^\]]+)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'),
  );
  return isIP(addressOnly) === 0 ? withoutZone(peer) : addressOnly;
}

/** Link-local addresses have a zone: the interface of this machine. Blocks and limits have none. */
const withoutZone = (address: string) => (address.includes('%') ? address.replace(/%.*$/, '') : address);
