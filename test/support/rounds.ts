/**
 * How often a test of parallel requests repeats them. A race that a change opens shows in most rounds, so a few are enough
 * before a push. `.ci/full` runs more.
 */
export const raceRounds = Number(process.env.RACE_ROUNDS ?? 3);
