/** PostgreSQL's text of an array of values that need no quotes: `pg` would search each for what to escape. */
export function arrayText(values: readonly (string | undefined)[]): string {
  return `{${values.join(',')}}`;
}

/** Of bytes, given as hexadecimal digits, as an element of such an array. */
export function byteaText(hex: string): string {
  return `\\\\x${hex}`;
}
