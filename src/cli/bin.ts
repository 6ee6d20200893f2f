#!/usr/bin/env node
import { collectYoungGarbageSimply } from './garbage.js';
import { run } from './run.js';

collectYoungGarbageSimply();

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
