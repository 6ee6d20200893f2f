#!/usr/bin/env node
import { run } from './run.js';

const { stdin, stdout, stderr } = process;
const code = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  isTerminal: stdout.isTTY === true,
  signals: process,
});
// Not only set: a command is over when it says so, whatever a library left open.
process.exit(code);
