/** A time that the user can choose in one step. */
export interface SnoozeTime {
  readonly name: 'later_today' | 'tomorrow' | 'next_week';
  readonly time: Date;
}

/** The hour at which a day begins for snoozed notifications. */
const morning = 9;
const laterHours = 3;

/**
 * The times that a notification can be snoozed until, in the time zone of the device: in three hours at a full hour, if that is
 * today; tomorrow morning; and on the morning of next Monday, if that is not tomorrow.
 */
export function snoozeTimes(now = new Date()): readonly SnoozeTime[] {
  const at = (days: number, hour: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const later = new Date(now.getTime() + laterHours * 3_600_000);
  if (later.getMinutes() + later.getSeconds() > 0) later.setHours(later.getHours() + 1, 0, 0, 0);
  const daysToMonday = (8 - now.getDay()) % 7 || 7;
  return [
    ...(later.getDate() === now.getDate() ? [{ name: 'later_today', time: later } as const] : []),
    { name: 'tomorrow', time: at(1, morning) },
    ...(daysToMonday > 1 ? [{ name: 'next_week', time: at(daysToMonday, morning) } as const] : []),
  ];
}
