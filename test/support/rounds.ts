/**
 * How often a test of parallel requests repeats them. A race that a change opens shows in most rounds, so a few are enough
 * before a push. `.ci/full` runs more.
 */
export const raceRounds = Number(process.env.RACE_ROUNDS ?? 3);

/** How often a property is checked with random values: a few times before a push, and more often with CI_FULL=1. */
export const runs = (usual: number, full: number): number => (process.env.CI_FULL === '1' ? full : usual);
