import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { withSmallHeap } from '../../app/v8-flags.js';
import { type Config, readConfig, readEnvironment } from '../../config/config.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';
import { watchNpmShell } from '../support/npm-shell.js';
import { stopDeadlineMs } from '../workers/messages.js';

/** Registers `postern serve`. */
export function serveCommand(program: Command, io: Io): void {
  program
    .command('serve')
    .description('start the service; SIGTERM or SIGINT stops it after running requests, SIGUSR2 restarts its workers')
    .action(() => serve(io));
}

interface Signals {
  /** Resolves at the first signal to stop. */
  readonly stopRequested: Promise<void>;
  requestStop(): void;
  onRestart(restart: () => void): void;
  removeListeners(): void;
}

async function serve(io: Io): Promise<void> {
  const signals = listen(io);
  try {
    await Promise.race([serveUntil(signals, io), failAfterDeadline(signals.stopRequested)]);
  } finally {
    signals.removeListeners();
  }
}

async function serveUntil(signals: Signals, io: Io): Promise<void> {
  const environment = io.env ?? readEnvironment();
  const config = readConfig(environment);
  watchNpmShell(environment, signals.requestStop);
  const print = (line: string) => printLine(io.stdout, line);
  if (config.WORKERS === 1) return serveAlone(config, signals, io, print);
  // Each branch loads only the modules that it needs.
  const { serveWithWorkers } = await import('../workers/primary.js');
  const { stopRequested, onRestart } = signals;
  const readCurrentEnvironment = () => io.env ?? readEnvironment();
  return serveWithWorkers(environment, {
    readEnvironment: readCurrentEnvironment,
    print,
    isTerminal: io.isTerminal,
    stopRequested,
    onRestart,
  });
}

async function serveAlone(config: Config, signals: Signals, io: Io, print: (line: string) => void): Promise<void> {
  signals.onRestart(() => printLine(io.stderr, 'There is only one process (WORKERS is 1). Nothing was restarted.'));
  let restoreConsole = () => {};
  const running = await withSmallHeap(async () => {
    const [{ startPostern }, { createLog, exitOnUncaught, logConsole }] = await Promise.all([
      import('../../app/main.js'),
      import('../../app/base/log.js'),
    ]);
    const log = createLog(config.LOG_LEVEL);
    const restore = logConsole(log);
    const removeListener = exitOnUncaught(log);
    restoreConsole = () => {
      removeListener();
      restore();
    };
    return startPostern(config, { log, print, isTerminal: io.isTerminal });
  });
  print(await running.firstScreen());
  await signals.stopRequested;
  await running.close();
  restoreConsole();
}

/** Fails if Postern has not stopped in time after a signal, also one during the start. */
async function failAfterDeadline(stopRequested: Promise<void>): Promise<never> {
  await stopRequested;
  await wait(stopDeadlineMs, undefined, { ref: false });
  throw new CommandError('Postern did not stop in time.');
}

/**
 * Listens from before the start until after the end: a signal during the start or the stop must not kill the process. A
 * signal to the process group arrives twice when npm passes it on.
 */
function listen({ signals }: Io): Signals {
  let requestStop = () => {};
  let restart = () => {};
  const stopRequested = new Promise<void>((resolve) => {
    requestStop = resolve;
  });
  const onStop = () => requestStop();
  const onRestart = () => restart();
  const listeners = [
    ['SIGTERM', onStop],
    ['SIGINT', onStop],
    ['SIGUSR2', onRestart],
  ] as const;
  for (const [name, listener] of listeners) signals?.on(name, listener);
  return {
    stopRequested,
    requestStop,
    onRestart(callback) {
      restart = callback;
    },
    removeListeners() {
      for (const [name, listener] of listeners) signals?.off(name, listener);
    },
  };
}
