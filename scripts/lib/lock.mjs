import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode, PrepareError } from './errors.mjs';

const pollMs = 100;
/** Longer than any install. After that a person must decide, because the id may belong to another process. */
const waitMs = 10 * 60_000;

/**
 * Runs `work` while no other process of this machine runs work under the same lock.
 *
 * The lock is a folder with one empty file, whose name is the process id of the owner. A process prepares such a folder under
 * another name and renames it to the lock: this fails while another process has the lock, because that folder is not empty. To
 * take over the lock of a dead owner, a process renames the file. Only one of several waiting processes can do this.
 *
 * @template T
 * @param {string} lock path of the folder; its parent must exist
 * @param {(owner: string) => void} onWait called once, with the owner's process id, when the lock is not free
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} what `work` resolves to
 * @throws {PrepareError} when a running process holds the lock for 10 minutes; errors of `work`
 */
export async function withLock(lock, onWait, work) {
  const mine = String(process.pid);
  const deadline = performance.now() + waitMs;
  let waiting = false;
  while (!claim(lock, mine)) {
    const owner = ownerOf(lock);
    // An owner with the id of this process is a dead one: ids repeat in a restarted container.
    const isDead = owner !== undefined && (owner === mine || !isAlive(Number(owner)));
    if (isDead && succeeds(() => renameSync(join(lock, owner), join(lock, mine)), 'ENOENT')) break;
    if (owner !== undefined && !waiting) onWait(owner);
    waiting ||= owner !== undefined;
    if (performance.now() > deadline) throw new PrepareError(`Process ${owner} still holds ${lock}.`);
    await pause(pollMs);
  }
  try {
    return await work();
  } finally {
    rmSync(join(lock, mine), { force: true });
    // Between the two calls the folder was empty, so the next owner may have it already.
    succeeds(() => rmdirSync(lock), 'ENOTEMPTY', 'EEXIST', 'ENOENT');
  }
}

/**
 * @param {string} lock
 * @param {string} mine
 */
function claim(lock, mine) {
  const candidate = `${lock}-${mine}`;
  mkdirSync(candidate, { recursive: true });
  writeFileSync(join(candidate, mine), '');
  const isMine = succeeds(() => renameSync(candidate, lock), 'ENOTEMPTY', 'EEXIST');
  if (!isMine) rmSync(candidate, { recursive: true });
  return isMine;
}

/**
 * @param {() => void} act
 * @param {...string} failures the codes of errors that mean false
 */
function succeeds(act, ...failures) {
  try {
    act();
    return true;
  } catch (error) {
    if (hasCode(error, ...failures)) return false;
    throw error;
  }
}

/** @param {string} lock */
function ownerOf(lock) {
  try {
    return readdirSync(lock)[0];
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}
