import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { PrepareError } from './errors.mjs';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs a command to its end, its messages on our standard error: standard output belongs to the service's log.
 * A signal meant for us ends the command first, so that no orphan goes on writing, and then us.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, quiet?: boolean }} options `quiet` drops the command's standard output
 * @returns {Promise<boolean>} whether it exited with 0
 * @throws {PrepareError} when the command cannot be started, and after a signal
 */
export async function run(command, args, { cwd, quiet = false }) {
  /** @type {NodeJS.Signals | undefined} */
  let interrupted;
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    interrupted = signal;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  // Only now: a signal in between would end us and leave the command running.
  const child = spawn(command, args, { cwd, stdio: ['ignore', quiet ? 'ignore' : 2, 2] });
  try {
    const code = await new Promise((resolve, reject) => {
      child.on('error', () => reject(new PrepareError(`Cannot run ${command}: is it installed and on the PATH?`)));
      child.on('close', resolve);
    });
    // Thrown, not exited on the spot: callers have locks to release.
    if (interrupted) throw new PrepareError(`Stopped by ${interrupted}.`, 128 + constants.signals[interrupted]);
    return code === 0;
  } finally {
    for (const signal of SIGNALS) process.off(signal, forward);
  }
}
