declare const instant: unique symbol;

/**
 * A moment as it travels on the wire: RFC 3339 in UTC with exactly six fractional digits,
 * `2017-10-19T17:02:03.181879Z`, years 0001 to 9999. The width is fixed, so that instants compare as strings. It is
 * never turned into a Date: that would round microseconds away.
 */
export type Instant = string & { readonly [instant]: true };

/** The form that error messages show; RFC 3339 with an offset is accepted beside it. */
export const TIME_FORMAT = 'YYYY-MM-DD HH:MM:SS';

const SECONDS_LENGTH = 'YYYY-MM-DD HH:MM:SS'.length;
const UTC_SUFFIX = '+00';

/**
 * The instant of PostgreSQL's text output for a `timestamptz` (`2017-10-19 17:02:03.18+00`), which it prints with as
 * many fractional digits as it needs. Runs for every time of every row, so it slices instead of parsing.
 *
 * @throws RangeError when the connection does not speak ISO in UTC, or for a time without a four-digit year
 * (`infinity`, BC): no column of ours holds one.
 */
export function instantFromPg(text: string): Instant {
  const fractionEnd = text.length - UTC_SUFFIX.length;
  const isIsoUtc =
    text.endsWith(UTC_SUFFIX) &&
    text[4] === '-' &&
    text[10] === ' ' &&
    (fractionEnd === SECONDS_LENGTH || (text[SECONDS_LENGTH] === '.' && fractionEnd <= SECONDS_LENGTH + 7));
  if (!isIsoUtc) throw new RangeError(`Not a time of PostgreSQL in ISO style and UTC: ${text}`);
  const fraction = text.slice(SECONDS_LENGTH + 1, fractionEnd);
  return format(text.slice(0, 10), text.slice(11, SECONDS_LENGTH), fraction);
}

/** The instant so many whole seconds later. */
export function instantAfter(instant: Instant, seconds: number): Instant {
  const later = new Date(Date.parse(`${instant.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`) + seconds * 1000);
  return `${later.toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}${instant.slice('YYYY-MM-DDTHH:MM:SS'.length)}` as Instant;
}

const SECONDS_UNTIL_2000 = Date.UTC(2000, 0) / 1000;

/**
 * Gives the instant so many microseconds after the beginning of 2000, which is how PostgreSQL's binary format tells times.
 * Of thousands in a row most are of the same second: what it looks like is kept from one to the next.
 */
export function instantsOfMicroseconds(): (microseconds: bigint) => Instant {
  let last = { second: -1n, date: '', time: '' };
  return (microseconds) => {
    const second = microseconds / 1_000_000n;
    if (second !== last.second) {
      const [date = '', time = ''] = new Date((Number(second) + SECONDS_UNTIL_2000) * 1000).toISOString().split('T');
      last = { second, date, time: time.slice(0, 8) };
    }
    const fraction = Number(microseconds - second * 1_000_000n);
    return format(last.date, last.time, String(fraction).padStart(6, '0'));
  };
}

const UTC_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/;
// A `+` in a query string decodes to a space, and clients forget to encode it; behind a T nothing else can be meant.
const RFC_3339_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:Z|([-+ ])(\d\d):(\d\d))$/i;

/**
 * Reads a time that a client wrote: `YYYY-MM-DD HH:MM:SS` (UTC, up to six fractional digits) or an RFC 3339
 * `date-time` (section 5.6) with `Z` or an offset, which is applied. Undefined for anything else and for what does
 * not exist: 30 February, 24:00:00, year 0000. Leap seconds (`:60`) are refused too, because PostgreSQL would move
 * them to the next minute.
 */
export function parseTime(text: string): Instant | undefined {
  const utc = UTC_TIME.exec(text);
  if (utc) return inUtc(utc[1], utc[2], utc[3], 0);
  const rfc3339 = RFC_3339_TIME.exec(text);
  if (!rfc3339) return undefined;
  const [, date, time, fraction, sign, hours = '00', minutes = '00'] = rfc3339;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = Number(hours) * 60 + Number(minutes);
  return inUtc(date, time, fraction, sign === '-' ? -offset : offset);
}

/**
 * What to answer to a text that `parseTime` does not read, where a time in the future is wanted. Only the message depends
 * on it, so the clock of this process decides.
 */
export function futureTimeFault(text: string): 'time_in_past' | 'invalid_time' {
  return Date.parse(text) < Date.now() ? 'time_in_past' : 'invalid_time';
}

/** Dates are used for whole seconds only; the fraction is carried over as text. `offset` is in minutes. */
function inUtc(date = '', time = '', fraction = '', offset: number): Instant | undefined {
  const local = new Date(`${date}T${time}Z`);
  // Date rolls impossible dates over to the next month or day: what exists comes back unchanged.
  if (Number.isNaN(local.getTime()) || local.toISOString() !== `${date}T${time}.000Z`) return undefined;
  const utc = offset === 0 ? local : new Date(local.getTime() - offset * 60_000);
  const [utcDate = '', utcTime = ''] = utc.toISOString().split('T');
  // Outside 0001 to 9999 an ISO date has a sign and six digits of year, or year 0000, which PostgreSQL has not.
  if (utcDate.length !== 10 || utcDate.startsWith('0000')) return undefined;
  return format(utcDate, utcTime.slice(0, 8), fraction);
}

function format(date: string, time: string, fraction: string): Instant {
  return `${date}T${time}.${fraction.padEnd(6, '0')}Z` as Instant;
}
