/** Seconds of a Retry-After header (RFC 9110, 10.2.3), at most one day; undefined without a valid one. */
export function retryAfterSeconds(header: string | undefined, now: () => number = Date.now): number | undefined {
  if (header === undefined) return undefined;
  // Date.parse also reads `-5`, as a year.
  const isDate = /^[A-Z][a-z]{2}, /.test(header);
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((isDate ? Date.parse(header) - now() : Number.NaN) / 1000);
  return Number.isFinite(seconds) ? Math.min(86_400, Math.max(0, seconds)) : undefined;
}
