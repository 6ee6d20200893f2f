import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A range of addresses: its family, and the bits that all its addresses begin with. */
export interface Network {
  /** The canonical text: an address, or an address whose bits after the prefix are zero, and the length of the prefix. */
  readonly text: string;
  readonly family: 4 | 6;
  /** The prefix, as a text of `0` and `1`. */
  readonly bits: string;
}

/** The length of the prefix that all IPv4-mapped addresses begin with, `::ffff:0:0/96`. */
const mappedPrefixLength = 96;

/**
 * Reads an address or a CIDR range. Bits after the prefix become zero. IPv4-mapped IPv6 becomes IPv4: sockets that accept both
 * families show IPv4 clients in that form.
 * @returns undefined for any other text: names, addresses with a zone, octal and decimal addresses, and IPv4-mapped
 *   addresses with a prefix shorter than 96
 */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  // `ipaddr.js` also reads forms such as 0x7f.1. `isIP` accepts zones.
  if (isIP(address) === 0 || address.includes('%')) return undefined;
  const original = parseAddress(address);
  const isMapped = original instanceof ipaddr.IPv6 && original.isIPv4MappedAddress();
  const parsed = isMapped ? original.toIPv4Address() : original;
  const addressLength = parsed instanceof ipaddr.IPv6 ? 128 : 32;
  const length = prefix === undefined ? addressLength : Number(prefix) - (isMapped ? mappedPrefixLength : 0);
  if (length < 0 || length > addressLength) return undefined;
  const bits = bitsOf(parsed).slice(0, length);
  const first = addressOf(bits.padEnd(addressLength, '0'));
  const isWhole = length === addressLength;
  return { text: isWhole ? first : `${first}/${length}`, family: addressLength === 128 ? 6 : 4, bits };
}

/**
 * Parses an address that is valid. `ipaddr.js` reads `::203.0.113.7` as IPv4-mapped, but it is an IPv6 address, which
 * PostgreSQL writes in this form.
 */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const dotted = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted === undefined) return ipaddr.parse(address);
  return ipaddr.fromByteArray([...Array<number>(12).fill(0), ...ipaddr.IPv4.parse(dotted).toByteArray()]);
}

const bitsOf = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
  address
    .toByteArray()
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');

/** The text of an address, in the form of RFC 5952. */
function addressOf(bits: string): string {
  const bytes = bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  const address = ipaddr.fromByteArray(bytes);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

/** Finds the networks that contain an address. */
export interface NetworkTable<T> {
  /** The values of the networks that contain the address. Its work does not grow with the number of networks. */
  find(address: string): T[];
}

/** Puts networks into one map for each length of prefix. */
export function createNetworkTable<T>(entries: Iterable<readonly [Network, T]>): NetworkTable<T> {
  const byLength = { 4: new Map<number, Map<string, T>>(), 6: new Map<number, Map<string, T>>() };
  for (const [{ family, bits }, value] of entries) {
    const sameLength = byLength[family].get(bits.length) ?? new Map<string, T>();
    byLength[family].set(bits.length, sameLength.set(bits, value));
  }
  return {
    find(address) {
      const network = parseNetwork(address);
      if (network === undefined) return [];
      return [...byLength[network.family]].flatMap(
        ([length, values]) => values.get(network.bits.slice(0, length)) ?? [],
      );
    },
  };
}
