/**
 * How often a test of parallel requests repeats them. A race that a change opens shows in most rounds, so a few are enough
 * before a push. `.ci/full` runs more.
 */
export const raceRounds = Number(process.env.RACE_ROUNDS ?? 3);

/** Whether a run takes the time for everything: `.ci/full`, by its rounds of races, or with CI_FULL=1. */
export const isThorough = raceRounds > 3 || process.env.CI_FULL === '1';

/** How often a property is checked with random values: a few times before a push, and more often in a thorough run. */
export const runs = (usual: number, full: number): number => (isThorough ? full : usual);
