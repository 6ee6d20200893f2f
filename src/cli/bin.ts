#!/usr/bin/env node
// The command `postern`: runs one command line, and exits with its code.
import { run } from './run.js';

const { stdin, stdout, stderr } = process;
const code = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  isTerminal: stdout.isTTY === true,
  signals: process,
});
// `process.exitCode` is not enough: a handle that a library left open would keep the process running.
process.exit(code);
