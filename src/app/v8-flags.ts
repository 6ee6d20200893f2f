import { setFlagsFromString } from 'node:v8';

/**
 * Runs the start of the service with a small young generation. Otherwise the garbage of a start grows it to 32 MB, which an
 * idle service does not need: with this, its memory is 12 % smaller (decision 76). The flag applies to the whole process.
 *
 * @param start imports the service and starts it
 * @returns the result of `start`
 */
export async function withSmallHeap<Started>(start: () => Promise<Started>): Promise<Started> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await start();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
  }
}
