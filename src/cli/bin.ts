#!/usr/bin/env node
// The command `postern`.
// It runs one command line with the streams of the process, and ends with its exit code.
import { fstatSync, writeFileSync } from 'node:fs';
import { run } from './run.js';
import { CommandError } from './support/failure.js';

const { stdin, stdout, stderr } = process;
const notWritten = (reason: string) => `The output could not be written: ${reason}`;
/** The exit code if the output could not be written. */
let lost: number | undefined;
// Either a device does not take the output, or the program that reads it has ended, such as `head`. Only the first needs a message.
stdout.on('error', ({ code: error, message }: NodeJS.ErrnoException) => {
  if (lost !== undefined) return;
  // What a shell reports for a program that a closed pipe has ended.
  lost = error === 'EPIPE' ? 141 : 1;
  if (error !== 'EPIPE') stderr.write(`${notWritten(message)}\n`);
  // Commands that run for long stop as they do for this signal.
  process.emit('SIGTERM', 'SIGTERM');
});
/** The stream ignores that a full disk has taken only a part of a text. This writes all of it or throws. */
const file = {
  write(text: string): void {
    try {
      writeFileSync(stdout.fd, text);
    } catch (error) {
      throw new CommandError(notWritten((error as Error).message));
    }
  },
};
const code = await run(process.argv.slice(2), {
  stdin,
  stdout: fstatSync(stdout.fd).isFile() ? file : stdout,
  stderr,
  isTerminal: stdout.isTTY === true,
  signals: process,
  startedAt: performance.timeOrigin,
});
// Waits until a pipe has taken the output. After an error, the listener above was called before.
await new Promise((resolve) => stdout.write('', resolve));
// `process.exitCode` is not enough: a handle that a library left open would keep the process running.
process.exit(lost ?? code);
