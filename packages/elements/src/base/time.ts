const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The age of a time, such as "5 min. ago". After a week: the day. If the clock of the device is behind: "now". */
export function timeAgo(time: string, language: string, now = Date.now()): string {
  const age = Math.max(0, now - Date.parse(time));
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  if (age < minute) return relative.format(0, 'second');
  if (age < hour) return relative.format(-Math.floor(age / minute), 'minute');
  if (age < day) return relative.format(-Math.floor(age / hour), 'hour');
  if (age < 7 * day) return relative.format(-Math.floor(age / day), 'day');
  const date = new Date(time);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
  }).format(date);
}

/** The whole time, in the time zone of the device. */
export function fullTime(time: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short' }).format(new Date(time));
}

/** The day of a time: "today", "yesterday", or its date. */
export function dayName(time: string, language: string, now = Date.now()): string {
  const [date, today] = [new Date(time), new Date(now)];
  const days = Math.round((new Date(today.toDateString()).getTime() - new Date(date.toDateString()).getTime()) / day);
  if (days <= 1) return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-Math.max(0, days), 'day');
  const isThisYear = date.getFullYear() === today.getFullYear();
  return new Intl.DateTimeFormat(language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(!isThisYear && { year: 'numeric' }),
  }).format(date);
}
