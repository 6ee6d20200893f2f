import type { Language } from '../lib/preferences.js';
import type { Texts } from './texts.js';

/** Numbers and times in the language and the time zone of the reader. */
export interface Formats {
  /** `15:41:38` today, `yesterday 09:12`, `20 Nov` this year, `19 Oct 2017` before. */
  time(at: string): string;
  /** `15:41:38`, of any day. */
  clock(at: string): string;
  /** Date and time to the minute. */
  moment(at: string): string;
  /** A mark of a time axis: `14:00`, or `20 Nov` where the marks are days. */
  axisTime(date: Date, areDays: boolean): string;
  /** A day as a heading: Today, Yesterday, Thu 19 Nov. */
  day(at: string): string;
  /** A day and a time of day in a time zone: `['Mon 3 Jun 2030', '22:30']`. */
  inZone(zone: string, at: string): readonly [day: string, time: string];
  number(value: number, scale?: 'exact' | 'axis' | 'figure'): string;
  percent(part: number): string;
  /** `8 minutes`, `2 days`: the largest whole unit. */
  duration(milliseconds: number): string;
}

export function createFormats(language: Language, text: Texts['common']): Formats {
  const locale = language === 'en' ? 'en-GB' : 'es';
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
  const clock = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
  const minutes = format({ hour: '2-digit', minute: '2-digit' });
  const ofThisYear = format({ day: 'numeric', month: 'short' });
  const ofAnyYear = format({ day: 'numeric', month: 'short', year: 'numeric' });
  const heading = format({ weekday: 'short', day: 'numeric', month: 'short' });
  const full = format({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const short = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });

  return {
    time(at) {
      const date = new Date(at);
      const days = daysAgo(date);
      if (days === 0) return clock.format(date);
      if (days === 1) return text.yesterdayAt(minutes.format(date));
      return (date.getFullYear() === new Date().getFullYear() ? ofThisYear : ofAnyYear).format(date);
    },
    clock: (at) => clock.format(new Date(at)),
    moment: (at) => full.format(new Date(at)),
    axisTime: (date, areDays) => (areDays ? ofThisYear : minutes).format(date),
    day(at) {
      const date = new Date(at);
      const days = daysAgo(date);
      if (days === 0) return text.today;
      if (days === 1) return text.yesterday;
      return (date.getFullYear() === new Date().getFullYear() ? heading : ofAnyYear).format(date);
    },
    inZone(timeZone, at) {
      const date = new Date(at);
      const of = (options: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat(locale, { ...options, timeZone }).format(date);
      return [
        of({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
        of({ hour: '2-digit', minute: '2-digit' }),
      ];
    },
    number(value, scale = 'exact') {
      const size = Math.abs(value);
      if (scale === 'axis' && size >= 10_000) {
        const [unit, sign] = size >= 1e9 ? [1e9, 'G'] : size >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
        return `${short.format(value / unit)} ${sign}`;
      }
      if (scale === 'figure' && size >= 1e9) return `${short.format(value / 1e9)} ${text.billion}`;
      if (scale === 'figure' && size >= 1e6) return `${short.format(value / 1e6)} ${text.million}`;
      return whole.format(value);
    },
    percent: (part) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(part),
    duration(milliseconds) {
      const units = [
        ['day', 86_400_000],
        ['hour', 3_600_000],
        ['minute', 60_000],
        ['second', 1000],
      ] as const;
      const [unit, size] = units.find(([, length]) => milliseconds >= length) ?? (['second', 1000] as const);
      const options = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 } as const;
      return new Intl.NumberFormat(locale, options).format(Math.floor(milliseconds / size));
    },
  };
}

/** Whole days between a time and now, by the calendar: 0 is today, negative is the future. */
function daysAgo(date: Date): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(new Date()) - midnight(date)) / 86_400_000);
}
