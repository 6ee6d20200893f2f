const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Distances between marks of a time axis that are easy to read. */
const steps = [
  ...[1, 5, 15, 30].map((count) => count * minute),
  ...[1, 2, 4, 6, 12].map((count) => count * hour),
  ...[1, 2, 5, 7, 14, 30, 90].map((count) => count * day),
];

/** The end of a scale that begins at 0: 1, 2 or 5 times a power of ten, and never less than 1. */
export function roundEnd(largest: number): number {
  if (largest <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return ([1, 2, 5, 10].find((factor) => factor * power >= largest) ?? 10) * power;
}

/** At most `maxMarks` round local times between two times, and whether they are whole days. */
export function timeMarks(
  from: number,
  to: number,
  maxMarks: number,
): { readonly marks: readonly number[]; readonly areDays: boolean } {
  const step = steps.find((candidate) => (to - from) / candidate <= maxMarks) ?? 90 * day;
  const midnight = new Date(from).setHours(0, 0, 0, 0);
  const marks: number[] = [];
  for (let index = 0; ; index += 1) {
    const time =
      step >= day
        ? new Date(midnight).setDate(new Date(midnight).getDate() + (index * step) / day)
        : midnight + index * step;
    if (time > to) break;
    if (time >= from) marks.push(time);
  }
  return { marks, areDays: step >= day };
}
