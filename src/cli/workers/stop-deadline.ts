/** Milliseconds from the signal to the end, at most: supervisors of processes kill after as long. */
export const STOP_DEADLINE = 30_000;
