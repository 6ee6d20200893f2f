import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './errors.mjs';

/**
 * Replaces the folder `target` with `fresh`, so that a reader sees either the old content or the new.
 *
 * @param {string} target may be missing
 * @param {string} fresh on the same file system as `target`; it is moved, so it does not exist afterwards
 */
export function replaceFolder(target, fresh) {
  const old = `${fresh}-old`;
  try {
    renameSync(target, old);
  } catch (error) {
    // A mounted volume and a folder of a lower layer of a container image cannot be renamed.
    if (hasCode(error, 'EBUSY', 'EXDEV')) return replaceContent(target, fresh);
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}

/**
 * @param {string} target
 * @param {string} fresh
 */
function replaceContent(target, fresh) {
  for (const name of readdirSync(target)) rmSync(join(target, name), { recursive: true });
  cpSync(fresh, target, { recursive: true, verbatimSymlinks: true });
  rmSync(fresh, { recursive: true });
}
