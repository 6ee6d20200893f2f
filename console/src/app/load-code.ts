import { NetworkError } from '../api/problem.js';
import { rootPath } from '../lib/root.js';
import { readStored, writeStored } from '../lib/storage.js';

/** The code of this page is no longer on the server, because the service was upgraded. A reload gets the new page. */
export class UpgradedError extends Error {
  override readonly name = 'UpgradedError';
}

/** The least time in milliseconds between two automatic reloads: during a rolling upgrade, old and new instances answer. */
const reloadPauseMs = 30_000;

/**
 * Loads a part of the console.
 *
 * @throws UpgradedError if the service has another console now, NetworkError if it cannot be reached
 */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    if (await isUpgraded()) throw new UpgradedError('The console was upgraded.');
    throw new NetworkError('A part of the console could not be loaded.');
  }
}

/** Whether the page that the service has now begins with another script than this one. */
async function isUpgraded(): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>('script[type=module]')?.getAttribute('src');
  try {
    const answer = await fetch(`${rootPath}/console`, { cache: 'no-store' });
    return answer.ok && own !== null && own !== undefined && !(await answer.text()).includes(own);
  } catch {
    return false;
  }
}

/** Reloads the page, unless it was reloaded just now. @returns whether it reloads */
export function reloadOnce(): boolean {
  const last = Number(readStored('sessionStorage', 'reloaded') ?? 0);
  if (Date.now() - last < reloadPauseMs) return false;
  writeStored('sessionStorage', 'reloaded', String(Date.now()));
  window.location.reload();
  return true;
}
