#!/usr/bin/env node
// The command `postern`.
// It runs one command line with the streams of the process, and ends with its exit code.
import { run } from './run.js';

const { stdin, stdout, stderr } = process;
// The disk is full, or the program that reads the output has ended, such as `head`. That is no reason for a message.
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') stderr.write(`The output could not be written: ${message}\n`);
  process.exit(1);
});
const code = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  isTerminal: stdout.isTTY === true,
  signals: process,
  startedAt: performance.timeOrigin,
});
// Waits until the output is written. After an error, the listener above ends the process.
await new Promise((resolve) => stdout.write('', resolve));
// `process.exitCode` is not enough: a handle that a library left open would keep the process running.
process.exit(code);
