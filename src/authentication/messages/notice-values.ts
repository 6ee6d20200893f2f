import ipaddr from 'ipaddr.js';

/** Characters of one part of a device's description. */
const longest = 40;

/** What a device says of itself, in one line; empty when it says nothing. */
export function describeDevice(device: {
  readonly make?: string;
  readonly model?: string;
  readonly os_name?: string;
  readonly os_version?: string;
}): string {
  const parts = [device.make, device.model].map(tame).filter((part) => part !== '');
  const system = [device.os_name, device.os_version].map(tame).filter((part) => part !== '');
  return [parts.join(' '), system.join(' ')].filter((part) => part !== '').join(', ');
}

/**
 * Whoever logs in names the device, and the user reads it in a message that comes from us: letters, digits and a few
 * marks are left of it, so that there is neither a line of its own nor an address that a mail program makes a link of.
 */
function tame(text: string | undefined): string {
  const plain = (text ?? '').normalize('NFKC').replaceAll(/[^\p{L}\p{M}\p{Nd} .,_+()-]+/gu, ' ');
  const linkless = plain.replaceAll(/(?<!\d)\.|\.(?!\d)/g, ' ').replaceAll(/ {2,}/g, ' ');
  return [...linkless.trim()].slice(0, longest).join('').trim();
}

/** The network of an address: /24 of IPv4, /48 of IPv6. Enough to be recognised; not where somebody lives. */
export function describeNetwork(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return '';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6) {
    return `${parsed.parts
      .slice(0, 3)
      .map((part) => part.toString(16))
      .join(':')}::/48`;
  }
  return `${parsed.octets.slice(0, 3).join('.')}.0/24`;
}

/** @param time RFC 3339 in UTC */
export function describeTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
