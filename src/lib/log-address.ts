import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns an address as a log may show it; undefined if it may not. */
export type LogAddress = (address: string) => string | undefined;

/**
 * @param mode `full`: as it is. `masked`: the network of the client, which are the first 24 bits of IPv4 and 48 bits of IPv6.
 *   `off`: none
 */
export function createLogAddress(mode: 'full' | 'masked' | 'off'): LogAddress {
  if (mode === 'full') return (address) => address;
  if (mode === 'off') return () => undefined;
  return (text) => {
    const address = text.replace(/%.*$/, '');
    if (isIP(address) === 0) return undefined;
    const parsed = ipaddr.process(address);
    const bytes = parsed.toByteArray();
    const kept = bytes.length === 4 ? 3 : 6;
    return ipaddr.fromByteArray(bytes.map((byte, index) => (index < kept ? byte : 0))).toString();
  };
}
