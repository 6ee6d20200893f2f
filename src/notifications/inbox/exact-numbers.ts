/**
 * Finds JSON that may hold a number of 16 characters or more, or one with an exponent. A false match is harmless.
 * Searching for the member's name too is four times as fast, but the name may be written with escapes (`\u006f`).
 */
const mayLoseDigits = /"object_data_number"\s*:\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;
const mayLoseDigitsUnnamed = /[\s:]-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/** A JSON string, which is skipped with everything in it, or such a number. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*[eE][-+]?\d+|-?\d[\d.]{15,}/g;

/**
 * The text of `object_data_number` as the client wrote it, for each item of a JSON array, or for one object at index 0.
 * A parsed number loses digits beyond the 17th, and its value when it is too large. Numbers of more than 15 digits must
 * be refused, not rounded.
 *
 * The function puts such numbers into quotation marks and calls `JSON.parse`. That takes 60 ms for a body of 4 MiB; a
 * JSON parser in JavaScript takes 1.4 s. (`JSON.parse` gives the text itself only from Node 22 on.)
 *
 * @param json valid JSON of bounded depth
 * @returns undefined for an item whose parsed number is exact or absent. An empty array if this is so for all items,
 * which is usual
 */
export function exactNumbers(json: string | undefined): readonly (string | undefined)[] {
  if (json === undefined) return [];
  const pattern = json.includes('\\u') ? mayLoseDigitsUnnamed : mayLoseDigits;
  if (!pattern.test(json)) return [];
  const quoted = json.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : `"${token}"`));
  const body: unknown = JSON.parse(quoted);
  return (Array.isArray(body) ? body : [body]).map(quotedNumber);
}

function quotedNumber(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null || !('object_data_number' in item)) return undefined;
  return typeof item.object_data_number === 'string' ? item.object_data_number : undefined;
}
