import ipaddr from 'ipaddr.js';

/** The maximum number of characters of one member of a device description. */
const maxLength = 40;

/** The description of a device in one line; empty without a description. */
export function describeDevice(device: {
  readonly make?: string;
  readonly model?: string;
  readonly os_name?: string;
  readonly os_version?: string;
}): string {
  const parts = [device.make, device.model].map(sanitize).filter((part) => part !== '');
  const system = [device.os_name, device.os_version].map(sanitize).filter((part) => part !== '');
  return [parts.join(' '), system.join(' ')].filter((part) => part !== '').join(', ');
}

/**
 * Keeps letters, digits and a few punctuation marks. The client chooses the description, and the user reads it in our
 * message: it must not contain line breaks, or an address that a mail program turns into a link.
 */
function sanitize(text: string | undefined): string {
  const plain = (text ?? '').normalize('NFKC').replaceAll(/[^\p{L}\p{M}\p{Nd} .,_+()-]+/gu, ' ');
  const withoutLinks = plain.replaceAll(/(?<!\d)\.|\.(?!\d)/g, ' ').replaceAll(/ {2,}/g, ' ');
  return [...withoutLinks.trim()].slice(0, maxLength).join('').trim();
}

/** The network of an address: /24 of IPv4, /48 of IPv6. Users recognise it, but it does not locate a person. */
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

/**
 * The text of a time, without seconds.
 * @param time RFC 3339 in UTC
 */
export function describeTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
