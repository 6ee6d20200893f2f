import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * The labels of a domain in ASCII (A-labels, RFC 5890). Undefined if a label cannot be part of a host name, such as `-a`, or is invalid
 * punycode.
 * @param domain without characters that have a meaning in a URL: a URL parser reads it
 */
export function asciiLabels(domain: string): string[] | undefined {
  const labels = domainToASCII(domain).split('.');
  const wellFormed = labels.every(
    (label) => /^[a-z0-9-]{1,63}$/.test(label) && !/^-|-$/.test(label) && isDecodable(label),
  );
  return wellFormed ? labels : undefined;
}

/** Whether a punycode label is valid. Some versions of Node decode broken punycode to nothing, others do not change it. */
function isDecodable(label: string): boolean {
  return !label.startsWith('xn--') || /[^\0-\x7f]/.test(domainToUnicode(label));
}
