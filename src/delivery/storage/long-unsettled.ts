/**
 * An image is *unsettled* while it may have files without a row: see `ImageStorage`. At this age, in milliseconds, it must
 * be checked. That is far longer than any request takes.
 */
const unsettledAfterMs = 3_600_000;
/** The maximum number of images that one check returns. */
const maxUnsettled = 1000;

/**
 * Measures for how long this process has seen images as unsettled, with a monotonic clock. So a change of the system
 * clock does not change the age.
 * @param now milliseconds of a monotonic clock
 * @returns a function that takes all unsettled images and returns those that have been unsettled for too long
 */
export function createLongUnsettledFinder(now: () => number): (ids: readonly string[]) => string[] {
  const firstSeen = new Map<string, number>();
  return (ids) => {
    const idSet = new Set(ids);
    for (const id of firstSeen.keys()) if (!idSet.has(id)) firstSeen.delete(id);
    for (const id of idSet) if (!firstSeen.has(id)) firstSeen.set(id, now());
    const old = [...firstSeen].filter(([, since]) => now() - since > unsettledAfterMs);
    return old.slice(0, maxUnsettled).map(([id]) => id);
  };
}
