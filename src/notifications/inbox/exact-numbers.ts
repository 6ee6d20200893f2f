/**
 * Finds JSON that may contain a number of 16 characters or more, or a number with an exponent. A false match is
 * harmless. The first pattern also searches for the name `object_data_number`, which is four times as fast. The second
 * pattern is for JSON in which the name may contain escapes (`\u006f`).
 */
const mayLoseDigits = /"object_data_number"\s*:\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;
const mayLoseDigitsUnnamed = /[\s:]-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/**
 * A JSON string or a number with many digits or an exponent. Strings are matched so that the search skips the text in
 * them.
 */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*[eE][-+]?\d+|-?\d[\d.]{15,}/g;

/**
 * For each item of a JSON array, or for one object at index 0: the text of `object_data_number` as the client wrote it, if
 * the parsed number may have lost digits. Numbers of more than 15 digits must be refused, not rounded. The function puts
 * such numbers into quotation marks and calls `JSON.parse`, which is twenty times as fast as a JSON parser in JavaScript.
 *
 * @param json valid JSON of bounded depth
 * @returns undefined for an item without such a number. Usually no item has one, and the array is empty
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
