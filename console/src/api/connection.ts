import { rootPath } from '../lib/root.js';
import { createStore } from '../lib/store.js';
import { NetworkError } from './problem.js';

/**
 * Whether the service answers. `since`: the time of the first request that failed. `noStorageSince`: it answers, but since
 * then it cannot use its database.
 */
export type Connection =
  | { readonly reachable: true; readonly noStorageSince?: Date }
  | { readonly reachable: false; readonly since: Date };

/** The time in milliseconds between two attempts to reach the service again. It doubles each time, up to the maximum. */
const probeInterval = { first: 2000, max: 15_000 };

export const connection = createStore<Connection>({ reachable: true });

/** Whether the service answers and can use its database. */
export const isWell = (state: Connection): boolean => state.reachable && state.noStorageSince === undefined;

let probe: ReturnType<typeof setTimeout> | undefined;

/** `fetch` of a path of the service, which records whether the service can be reached. */
export async function trackedFetch(input: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(rootPath + input, init);
    markReachable();
    return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    markUnreachable();
    throw new NetworkError('The service cannot be reached.', { cause: error });
  }
}

/** A stream or a body ended in the middle. */
export function markUnreachable(): void {
  if (!connection.get().reachable) return;
  connection.set({ reachable: false, since: new Date() });
  probeAfter(probeInterval.first);
}

function markReachable(): void {
  clearTimeout(probe);
  if (!connection.get().reachable) connection.set({ reachable: true });
}

/** The service has answered a request with data from its database, or has said that it cannot use the database. */
export function markStorage(isAvailable: boolean): void {
  const now = connection.get();
  if (!now.reachable || isAvailable === (now.noStorageSince === undefined)) return;
  connection.set(isAvailable ? { reachable: true } : { reachable: true, noStorageSince: new Date() });
}

function probeAfter(milliseconds: number): void {
  clearTimeout(probe);
  probe = setTimeout(async () => {
    try {
      await fetch(`${rootPath}/livez`, { cache: 'no-store' });
      markReachable();
    } catch {
      probeAfter(Math.min(milliseconds * 2, probeInterval.max));
    }
  }, milliseconds);
}

/** Follows the events of the browser about its network, which come earlier than a failed request. @returns stops it */
export function watchNetwork(): () => void {
  const onOnline = () => {
    if (!connection.get().reachable) probeAfter(0);
  };
  window.addEventListener('offline', markUnreachable);
  window.addEventListener('online', onOnline);
  return () => {
    window.removeEventListener('offline', markUnreachable);
    window.removeEventListener('online', onOnline);
  };
}
