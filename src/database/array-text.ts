/** PostgreSQL's text of an array of values that need no quotes: `pg` would search each for what to escape. */
export function arrayText(values: readonly (string | number | undefined)[]): string {
  return `{${values.join(',')}}`;
}

/** Of bytes, given as hexadecimal digits, as an element of such an array. */
export function byteaText(hex: string): string {
  return `\\\\x${hex}`;
}

/** Of texts, which are quoted; null stays null. `pg` does the same, taking several times as long. */
export function textArrayText(values: readonly (string | null)[]): string {
  const quoted = values.map((value) => (value === null ? 'NULL' : `"${escapes.test(value) ? escaped(value) : value}"`));
  return `{${quoted.join(',')}}`;
}

const escapes = /["\\]/;

function escaped(value: string): string {
  return value.replaceAll(/["\\]/g, '\\$&');
}
