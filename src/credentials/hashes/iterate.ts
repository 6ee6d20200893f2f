import { setImmediate } from 'node:timers/promises';

/** The rounds between two pauses: about a millisecond. */
const roundsPerTurn = 500;

/**
 * Longer passwords are not hashed in full: the time of the algorithms that are iterated here grows with the length. The
 * systems that write these hashes have similar limits.
 */
export const maxIteratedBytes = 512;

/** Runs a step many times, and lets other work of the event loop run in between. */
export async function iterate(rounds: number, step: (round: number) => void): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    if (round % roundsPerTurn === 0) await setImmediate();
    step(round);
  }
}
