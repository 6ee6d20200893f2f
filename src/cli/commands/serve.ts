import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Config, readConfig, readEnvironment } from '../../config.js';
import { CommandError } from '../failure.js';
import { inLittleMemory } from '../garbage.js';
import { type Io, printLine } from '../io.js';
import { STOP_DEADLINE } from '../workers/stop-deadline.js';

export function serveCommand(program: Command, io: Io): void {
  program
    .command('serve')
    .description('start the service; SIGTERM or SIGINT drains and stops it, SIGUSR2 restarts its workers')
    .action(() => serve(io));
}

interface Signals {
  /** Resolves with the first signal to stop. */
  readonly asked: Promise<void>;
  onRestart(restart: () => void): void;
  forget(): void;
}

async function serve(io: Io): Promise<void> {
  const signals = listen(io);
  try {
    await Promise.race([serveUntil(signals, io), overdue(signals.asked)]);
  } finally {
    signals.forget();
  }
}

async function serveUntil(signals: Signals, io: Io): Promise<void> {
  const environment = io.env ?? readEnvironment();
  const config = readConfig(environment);
  const print = (line: string) => printLine(io.stdout, line);
  if (config.WORKERS === 1) return serveAlone(config, signals, io, print);
  // Each way loads only what it needs.
  const { serveWithWorkers } = await import('../workers/primary.js');
  const { asked, onRestart } = signals;
  const readAgain = () => io.env ?? readEnvironment();
  return serveWithWorkers(environment, {
    readEnvironment: readAgain,
    print,
    isTerminal: io.isTerminal,
    asked,
    onRestart,
  });
}

async function serveAlone(config: Config, signals: Signals, io: Io, print: (line: string) => void): Promise<void> {
  signals.onRestart(() => printLine(io.stderr, 'There is one process only: WORKERS is 1. Nothing was restarted.'));
  const running = await inLittleMemory(async () => {
    const { startPostern } = await import('../../main.js');
    return startPostern(config, { print, isTerminal: io.isTerminal });
  });
  print(running.banner);
  await signals.asked;
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
function listen({ signals }: Io): Signals {
  let ask = () => {};
  let restart = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const onStop = () => ask();
  const onRestart = () => restart();
  const listeners = [
    ['SIGTERM', onStop],
    ['SIGINT', onStop],
    ['SIGUSR2', onRestart],
  ] as const;
  for (const [name, listener] of listeners) signals?.on(name, listener);
  return {
    asked,
    onRestart(callback) {
      restart = callback;
    },
    forget() {
      for (const [name, listener] of listeners) signals?.off(name, listener);
    },
  };
}
