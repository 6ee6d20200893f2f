/** A date and a time of day as a form has it, such as `2030-01-31T09:00`. */
export type WallTime = string;

/** The wall time in a zone, to the minute. */
export function wallTimeIn(zone: string, at: Date): WallTime {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`;
}

/**
 * The moment of a wall time in a zone. In the hour that a change of the clocks skips, it is as much later as the clocks move; in the hour
 * that comes twice, it is the first.
 *
 * @returns undefined if the text is no wall time
 */
export function momentOf(zone: string, wallTime: WallTime): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(wallTime)) return undefined;
  const asUtc = Date.parse(`${wallTime}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  const offsetAt = (time: number) => Date.parse(`${wallTimeIn(zone, new Date(time))}Z`) - floorToMinute(time);
  // The offsets a day before and after: at most one change of the clocks is between them.
  const offsets = [offsetAt(asUtc - dayMs), offsetAt(asUtc + dayMs)];
  const candidates = offsets.map((offset) => asUtc - offset);
  const exact = candidates.filter((time) => wallTimeIn(zone, new Date(time)) === wallTime);
  return new Date(exact.length > 0 ? Math.min(...exact) : Math.max(...candidates));
}

const dayMs = 86_400_000;
const floorToMinute = (time: number) => Math.floor(time / 60_000) * 60_000;

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
/** All zones that the browser knows, the own one first. */
export const zones = (): readonly string[] => [
  ...new Set([ownZone(), 'UTC', ...(Intl.supportedValuesOf?.('timeZone') ?? [])]),
];
