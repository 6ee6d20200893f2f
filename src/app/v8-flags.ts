import { setFlagsFromString } from 'node:v8';

/**
 * Starts the service with a small young generation of the V8 heap. The start allocates much and would otherwise grow it
 * to 32 MB, which an idle service does not need (decision 47). The flag applies to the whole process.
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
