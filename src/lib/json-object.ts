/** A JSON object whose members are not checked yet. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, and neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses text from outside that should be a JSON object. It hides the parser's error, which may contain parts of the
 * text.
 * @returns undefined for any other text
 */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
