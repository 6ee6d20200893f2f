import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { PrepareError } from './errors.mjs';

const forwardedSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs a command to its end. Its output goes to standard error, because standard output is for the log of the service. A signal
 * to this process ends the command first, so that no orphan keeps writing, and then this process.
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
  for (const signal of forwardedSignals) process.on(signal, forward);
  // After the listeners: a signal before them would end this process and leave the command running.
  const child = spawn(command, args, { cwd, stdio: ['ignore', quiet ? 'ignore' : 2, 2] });
  try {
    const code = await new Promise((resolve, reject) => {
      child.on('error', () => reject(new PrepareError(`Cannot run ${command}: is it installed and on the PATH?`)));
      child.on('close', resolve);
    });
    // Thrown, because callers have to release locks.
    if (interrupted) throw new PrepareError(`Stopped by ${interrupted}.`, 128 + constants.signals[interrupted]);
    return code === 0;
  } finally {
    for (const signal of forwardedSignals) process.off(signal, forward);
  }
}
