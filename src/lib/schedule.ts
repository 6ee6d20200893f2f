import { parseDuration } from './times.js';

/** When repeated work is due. */
export interface Schedule {
  /** The text that it was read from. */
  readonly text: string;
  /** The first time after `time` at which it is due; both in milliseconds since 1970. */
  next(time: number): number;
}

/** The fields of a cron expression: their smallest and largest numbers. */
const fields = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;
const minuteMs = 60_000;
/** A combination such as 29 February on a Monday occurs at least once in 40 years. */
const maxDays = 40 * 366;
const minInterval = 5 * minuteMs;

/**
 * Reads a schedule: a duration of at least five minutes, such as `6h`, or a cron expression of five fields in UTC, such as
 * `30 3 * * *`.
 * @returns undefined for any other text, and for an expression that never occurs
 */
export function parseSchedule(text: string): Schedule | undefined {
  const interval = parseDuration(text);
  if (interval !== undefined) {
    return interval < minInterval ? undefined : { text, next: (time) => time + interval };
  }
  const parts = text.trim().split(/\s+/);
  const sets = fields.map(([min, max], index) => parseField(parts[index] ?? '', min, max));
  const [minutes, hours, days, months, weekdays] = sets;
  if (parts.length !== fields.length || !minutes || !hours || !days || !months || !weekdays) return undefined;
  // As in cron: if the day of the month and the day of the week are both limited, one of the two has to match.
  const eitherIsEnough = parts[2] !== '*' && parts[4] !== '*';
  const isDay = (date: Date) => {
    const inMonth = days.has(date.getUTCDate());
    const inWeek = weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays.has(7));
    return months.has(date.getUTCMonth() + 1) && (eitherIsEnough ? inMonth || inWeek : inMonth && inWeek);
  };
  const find = (time: number) => nextTime(time, isDay, hours, minutes);
  if (find(0) === undefined) return undefined;
  return { text, next: (time) => find(time) ?? Number.POSITIVE_INFINITY };
}

function nextTime(
  time: number,
  isDay: (date: Date) => boolean,
  hours: ReadonlySet<number>,
  minutes: ReadonlySet<number>,
): number | undefined {
  const day = 24 * 60 * minuteMs;
  const start = Math.floor(time / day) * day;
  for (let index = 0; index < maxDays; index += 1) {
    const date = start + index * day;
    if (!isDay(new Date(date))) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const candidate = date + (hour * 60 + minute) * minuteMs;
        if (candidate > time) return candidate;
      }
    }
  }
  return undefined;
}

/** The numbers of a field: `*`, `5`, `1-5`, `1-30/2`, and lists of these, in ascending order. */
function parseField(text: string, min: number, max: number): ReadonlySet<number> | undefined {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [, star, from = '', to, step = '1'] = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const first = star === undefined ? Number(from) : min;
    const last = star === undefined ? Number(to ?? (part.includes('/') ? max : from)) : max;
    const isValid = (star ?? from) !== '' && Number(step) > 0 && first >= min && last <= max && first <= last;
    if (!isValid) return undefined;
    for (let number = first; number <= last; number += Number(step)) found.add(number);
  }
  return new Set([...found].sort((one, other) => one - other));
}
