declare const instant: unique symbol;

/**
 * A time in requests and responses: RFC 3339 in UTC with exactly six fractional digits, `2017-10-19T17:02:03.181879Z`, years
 * 0001 to 9999. The width is fixed, so instants compare as strings. It is never converted to a Date, which would lose
 * microseconds.
 */
export type Instant = string & { readonly [instant]: true };

/** The format in error messages. RFC 3339 with an offset is accepted too. */
export const timeFormat = 'YYYY-MM-DD HH:MM:SS';

const secondsLength = 'YYYY-MM-DD HH:MM:SS'.length;
const utcSuffix = '+00';

/**
 * The instant of PostgreSQL's text output for a `timestamptz` (`2017-10-19 17:02:03.18+00`), which has as many fractional
 * digits as it needs. It runs for every time of every row, so it slices the text and does not parse it.
 *
 * @throws RangeError when the connection does not use ISO and UTC, or for a time without a four-digit year (`infinity`, BC),
 * which no column contains.
 */
export function instantFromPg(text: string): Instant {
  const fractionEnd = text.length - utcSuffix.length;
  const isIsoUtc =
    text.endsWith(utcSuffix) &&
    text[4] === '-' &&
    text[10] === ' ' &&
    (fractionEnd === secondsLength || (text[secondsLength] === '.' && fractionEnd <= secondsLength + 7));
  if (!isIsoUtc) throw new RangeError(`Not a time of PostgreSQL in ISO style and UTC: ${text}`);
  const fraction = text.slice(secondsLength + 1, fractionEnd);
  return toInstant(text.slice(0, 10), text.slice(11, secondsLength), fraction);
}

/** The instant that is a number of whole seconds later. */
export function instantAfter(instant: Instant, seconds: number): Instant {
  const later = new Date(Date.parse(`${instant.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`) + seconds * 1000);
  return `${later.toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}${instant.slice('YYYY-MM-DDTHH:MM:SS'.length)}` as Instant;
}

/** Seconds since 1970. */
export const secondsOf = (time: string): number => Date.parse(time) / 1000;

/** The instant of whole seconds since 1970. */
export function instantOfSeconds(seconds: number): Instant {
  const [date = '', time = ''] = new Date(seconds * 1000).toISOString().split('T');
  return toInstant(date, time.slice(0, 8), '');
}

const secondsUntil2000 = Date.UTC(2000, 0) / 1000;

/**
 * Returns a function from microseconds since 2000-01-01 (PostgreSQL's binary format of times) to an instant. Most of
 * thousands of successive times have the same second, so it caches the text of the last second.
 */
export function instantsOfMicroseconds(): (microseconds: bigint) => Instant {
  let last = { second: -1n, date: '', time: '' };
  return (microseconds) => {
    const second = microseconds / 1_000_000n;
    if (second !== last.second) {
      const [date = '', time = ''] = new Date((Number(second) + secondsUntil2000) * 1000).toISOString().split('T');
      last = { second, date, time: time.slice(0, 8) };
    }
    const fraction = Number(microseconds - second * 1_000_000n);
    return toInstant(last.date, last.time, String(fraction).padStart(6, '0'));
  };
}

const utcTimePattern = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/;
// Clients forget to encode `+` in a query string, and it is then decoded to a space. After a T, a space can only be
// such a `+`.
const rfc3339Pattern = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:Z|([-+ ])(\d\d):(\d\d))$/i;

/**
 * Reads a time of a client: `YYYY-MM-DD HH:MM:SS` (UTC, up to six fractional digits), or an RFC 3339 `date-time` (section 5.6)
 * with `Z` or an offset, which is applied. Undefined for any other text and for times that do not exist: 30 February,
 * 24:00:00, year 0000. Refuses leap seconds (`:60`) too, because PostgreSQL would move them to the next minute.
 */
export function parseTime(text: string): Instant | undefined {
  const utc = utcTimePattern.exec(text);
  if (utc) return instantWithOffset(utc[1], utc[2], utc[3], 0);
  const rfc3339 = rfc3339Pattern.exec(text);
  if (!rfc3339) return undefined;
  const [, date, time, fraction, sign, hours = '00', minutes = '00'] = rfc3339;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = Number(hours) * 60 + Number(minutes);
  return instantWithOffset(date, time, fraction, sign === '-' ? -offset : offset);
}

/**
 * The error code of a text that `parseTime` cannot read, for a field that requires a future time. JavaScript reads more formats
 * than `parseTime`, so such a text may still be a time in the past, for example `2001`. Uses the clock of this process, because
 * only the message depends on it.
 */
export function errorCodeOfUnreadableTime(text: string): 'time_in_past' | 'invalid_time' {
  return Date.parse(text) < Date.now() ? 'time_in_past' : 'invalid_time';
}

/** Dates are used for whole seconds only. The fraction is copied as text. `offset` is in minutes. */
function instantWithOffset(date = '', time = '', fraction = '', offset: number): Instant | undefined {
  const local = new Date(`${date}T${time}Z`);
  // Date moves impossible dates to the next month or day. Existing dates do not change.
  if (Number.isNaN(local.getTime()) || local.toISOString() !== `${date}T${time}.000Z`) return undefined;
  const utc = offset === 0 ? local : new Date(local.getTime() - offset * 60_000);
  const [utcDate = '', utcTime = ''] = utc.toISOString().split('T');
  // Outside 0001 to 9999 an ISO date has a sign and a year of six digits, or the year 0000, which PostgreSQL does not have.
  if (utcDate.length !== 10 || utcDate.startsWith('0000')) return undefined;
  return toInstant(utcDate, utcTime.slice(0, 8), fraction);
}

function toInstant(date: string, time: string, fraction: string): Instant {
  return `${date}T${time}.${fraction.padEnd(6, '0')}Z` as Instant;
}

/** The maximum of SESSION_TTL in days. No session lives longer, even if its row has a later time. */
export const maxSessionDays = 30;

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration such as `30s`, `15m`, `1h` or `365d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * units[match[2] as keyof typeof units];
}

/** Whether this process can show times of the zone. PostgreSQL knows a few names that it cannot. */
export function isTimeZone(text: string): boolean {
  // Offsets such as +01:00 are no names, and change with the season.
  if (text.length > 64 || !/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
