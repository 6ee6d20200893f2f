/** What SESSION_TTL is at most. No session lives longer, whatever its row says. */
export const longestSession = '30d';

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration such as `30s`, `15m`, `1h` or `365d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * units[match[2] as keyof typeof units];
}
