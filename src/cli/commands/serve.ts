import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { readConfig } from '../../config.js';
import { startPostern } from '../../main.js';
import { CommandError } from '../failure.js';
import { type Io, printLine } from '../io.js';

/** Milliseconds from the signal to the end, at most: supervisors of processes kill after as long. */
const STOP_DEADLINE = 30_000;

export function serveCommand(program: Command, io: Io): void {
  program
    .command('serve')
    .description('start the service; SIGTERM or SIGINT drains and stops it')
    .action(() => serve(io));
}

async function serve(io: Io): Promise<void> {
  const stop = listenForStop(io);
  try {
    await Promise.race([serveUntil(stop.asked, io), overdue(stop.asked)]);
  } finally {
    stop.forget();
  }
}

async function serveUntil(asked: Promise<void>, io: Io): Promise<void> {
  const config = readConfig(io.env);
  const print = (line: string) => printLine(io.stdout, line);
  const running = await startPostern(config, { print, isTerminal: io.isTerminal });
  print(running.banner);
  await asked;
  await running.close();
}

/** Also a start that hangs can be stopped. */
async function overdue(asked: Promise<void>): Promise<never> {
  await asked;
  await wait(STOP_DEADLINE, undefined, { ref: false });
  throw new CommandError('Postern did not stop in time.');
}

/**
 * Listens from before the start until after the end: a signal in between must not kill the process, and one to the
 * whole group arrives twice when npm passes it on.
 */
function listenForStop({ signals }: Io): { readonly asked: Promise<void>; forget(): void } {
  let ask = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const names = ['SIGTERM', 'SIGINT'];
  for (const name of names) signals?.on(name, ask);
  return {
    asked,
    forget() {
      for (const name of names) signals?.off(name, ask);
    },
  };
}
