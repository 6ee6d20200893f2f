import type { Core } from '../core.js';
import { type Abortable, forCaller, throwIfAborted, wait } from '../platform.js';
import type { Call } from '../transport.js';
import type { SearchWorker } from './address.js';
import { search, type Work } from './search.js';

/** A challenge in the format of ALTCHA: find the number whose SHA-256, after the salt, is `challenge`. */
interface Challenge {
  readonly algorithm: string;
  readonly challenge: string;
  readonly maxnumber: number;
  readonly salt: string;
  readonly signature: string;
}

/** Sends a refused request again, with the solution of the challenge in its problem. */
export async function repeat<T>(
  humanCheck: unknown,
  request: Call,
  send: (call: Call) => Promise<T>,
  { humanCheckListeners }: Pick<Core, 'humanCheckListeners'>,
): Promise<T> {
  const { challenge } = humanCheck as { readonly challenge: Challenge };
  const { algorithm, challenge: target, maxnumber, salt, signature } = challenge;
  const work = { salt, target, end: maxnumber + 1 };
  const tell = (isWorking: boolean) => {
    for (const listener of humanCheckListeners ?? []) listener(isWorking);
  };
  tell(true);
  try {
    const found = await inWorker(work, request);
    const number = found === undefined ? await inSlices(work, request) : found;
    if (number === null) throw new Error('The challenge has no solution.');
    const token = btoa(JSON.stringify({ algorithm, challenge: target, number, salt, signature }));
    return await send({ ...request, body: { ...(request.body as object), human_check: token } });
  } finally {
    tell(false);
  }
}

/** The solution, found in a worker. Null if there is none, and undefined if the platform or the policy of the page allows no worker. */
async function inWorker(work: Work, { signal }: Abortable): Promise<number | null | undefined> {
  if (!('Worker' in globalThis)) return undefined;
  // A file of its own: a bundle that is no module cannot contain `import.meta`.
  const address = await import('./address.js').catch(() => undefined);
  throwIfAborted(signal);
  let worker: SearchWorker | undefined;
  try {
    worker = address?.openWorker();
  } catch {
    // The policy of the page forbids it.
  }
  if (worker === undefined) return undefined;
  const opened = worker;
  const found = new Promise<number | null | undefined>((resolve) => {
    opened.onmessage = ({ data }) => resolve(data);
    // The file of the worker is missing.
    opened.onerror = (event) => {
      event.preventDefault();
      resolve(undefined);
    };
    opened.postMessage(work);
  });
  return forCaller(found, signal).finally(() => opened.terminate());
}

/** Milliseconds of work between two pauses, in which a page can react. */
const sliceMs = 12;

async function inSlices({ end, ...rest }: Work, { signal }: Abortable): Promise<number | null> {
  let sliceEnd = Date.now() + sliceMs;
  for (let start = 0; start < end; start += 64) {
    const number = search({ ...rest, end: Math.min(end, start + 64) }, start);
    if (number !== undefined) return number;
    if (Date.now() <= sliceEnd) continue;
    await wait(0, signal);
    throwIfAborted(signal);
    sliceEnd = Date.now() + sliceMs;
  }
  return null;
}
