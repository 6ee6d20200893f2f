/**
 * Seconds by which a time that `db_now()` gave out may lie ahead of it later. The clocks of a primary and its standby differ
 * by less, and a clock that runs is set by less.
 */
export const clockTolerance = 60;

/** SQL: whether a time that `db_now()` gave out is not ahead of it. If it is, the clock was ahead then, or is behind now. */
export const isNotAhead = (column: string) => `${column} <= db_now() + interval '${clockTolerance} seconds'`;
