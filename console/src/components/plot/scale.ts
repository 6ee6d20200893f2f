const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Distances between marks of a time axis that are easy to read. */
const steps = [minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 6 * hour, 12 * hour].concat([
  day,
  2 * day,
  5 * day,
  7 * day,
  14 * day,
  30 * day,
  90 * day,
]);

/** The end of a scale that begins at 0: 1, 2 or 5 times a power of ten, and never less than 1. */
export function roundEnd(largest: number): number {
  if (largest <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return ([1, 2, 5, 10].find((factor) => factor * power >= largest) ?? 10) * power;
}

/** Round local times between two times, at most `most`, and whether they are whole days. */
export function timeMarks(
  from: number,
  to: number,
  maxMarks: number,
): { readonly marks: readonly number[]; readonly areDays: boolean } {
  const step = steps.find((one) => (to - from) / one <= maxMarks) ?? 90 * day;
  const midnight = new Date(from).setHours(0, 0, 0, 0);
  const at: number[] = [];
  for (let index = 0; ; index += 1) {
    const time =
      step >= day
        ? new Date(midnight).setDate(new Date(midnight).getDate() + (index * step) / day)
        : midnight + index * step;
    if (time > to) break;
    if (time >= from) at.push(time);
  }
  return { marks: at, areDays: step >= day };
}
