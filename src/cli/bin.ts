#!/usr/bin/env node
// The command `postern`.
// It runs one command line with the streams of the process, and ends with its exit code.
import { run } from './run.js';

const { stdin, stdout, stderr } = process;
const code = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  isTerminal: stdout.isTTY === true,
  signals: process,
  startedAt: performance.timeOrigin,
});
// `process.exitCode` is not enough: a handle that a library left open would keep the process running.
process.exit(code);
