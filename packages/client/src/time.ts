/** Starts a timer of `setTimeout`. The timers of pauses start here, so that tests can shorten them. */
export const startTimer = (end: () => void, milliseconds: number): ReturnType<typeof setTimeout> =>
  setTimeout(end, milliseconds);

/**
 * Returns a function that measures the milliseconds since now with two clocks, and returns the larger value: one clock
 * can stop while the device sleeps, and the other can be set back.
 */
export function stopwatch(): () => number {
  const [wallStart, monotonicStart] = [Date.now(), performance.now()];
  return () => Math.max(Date.now() - wallStart, performance.now() - monotonicStart);
}
