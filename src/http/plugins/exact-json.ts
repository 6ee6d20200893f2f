/** Why a part of a JSON text would not come back as it was sent. */
export interface InexactPart {
  /** The names and indexes of the part, joined by dots. */
  readonly field: string;
  readonly code: 'inexact_number' | 'duplicate_member' | 'reserved_member';
}

const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]|true|false|null/g;

/**
 * Finds what a parser would change inside the named members of a JSON text: numbers that a double cannot hold, the sign of zero, a
 * second member with the same name, and members that `isDropped` names.
 * @param text valid JSON of bounded depth
 * @param names of members such as `claims`, at any depth. Only what is inside of them counts
 */
export function inexactParts(text: string, names: readonly string[]): InexactPart[] {
  const found: InexactPart[] = [];
  /** For each open object or array: the names so far, or undefined, and the name or index of the current part. */
  const open: { readonly names: Set<string> | undefined; current: string }[] = [];
  let expectsName = false;
  const isInside = (places: typeof open) => places.some(({ current }) => names.includes(current));
  const report = (code: InexactPart['code']) =>
    found.push({ field: open.map(({ current }) => current).join('.'), code });
  for (const [part] of text.matchAll(token)) {
    const place = open.at(-1);
    if (part === '{' || part === '[') {
      open.push(part === '{' ? { names: new Set(), current: '' } : { names: undefined, current: '0' });
      expectsName = part === '{';
    } else if (part === '}' || part === ']') {
      open.pop();
      expectsName = false;
    } else if (part === ',') {
      expectsName = place?.names !== undefined;
      if (place !== undefined && place.names === undefined) place.current = String(Number(place.current) + 1);
    } else if (expectsName && place?.names !== undefined) {
      expectsName = false;
      place.current = JSON.parse(part) as string;
      if (isInside(open.slice(0, -1))) {
        if (place.names.has(place.current)) report('duplicate_member');
        if (isDropped(place.current, open.at(-2)?.current)) report('reserved_member');
      }
      place.names.add(place.current);
    } else if (/^[-\d]/.test(part) && isInside(open) && !isExact(part)) {
      report('inexact_number');
    }
  }
  return found;
}

/** `secure-json-parse` drops these members. */
const isDropped = (name: string, parent: string | undefined) =>
  name === '__proto__' || (name === 'prototype' && parent === 'constructor');

/** Whether the double of a number prints as the same number. */
const isExact = (text: string) => normalForm(text) === normalForm(JSON.stringify(Number(text)));

/** The digits of a number without zeros at both ends, and its exponent. */
function normalForm(text: string): string | undefined {
  const [, sign = '', whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
