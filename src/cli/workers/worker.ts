// The program of one worker: a Postern that shares the port with other workers. The primary starts it, sends its
// environment and asks it to stop. When the primary ends, the worker stops too, so that the port becomes free.
import cluster, { type Worker } from 'node:cluster';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createLog, exitOnUncaught, logConsole } from '../../app/base/log.js';
import { withSmallHeap } from '../../app/v8-flags.js';
import { readConfig } from '../../config/config.js';
import { waitAtMost } from '../../lib/time-limit.js';
import { describeFailure } from '../support/failure.js';
import { type Environment, type FromWorker, stopDeadlineMs, type ToWorker } from './messages.js';

interface Commands {
  readonly start: Promise<Environment>;
  /** Resolves with the way to stop. */
  readonly stop: Promise<'stop' | 'retire'>;
  /** Registers the callback for requests of metrics. */
  readonly onMetrics: (callback: () => void) => void;
}

/** Milliseconds that a retiring worker waits for its clients to connect to another worker, and then for running requests. */
const retirementMs = { clients: 2000, requests: 2000 };

/** Registers the listeners first, so that no message and no signal is lost. */
function receiveCommands(worker: Worker): Commands {
  let resolveStart: (environment: Environment) => void = () => undefined;
  let resolveStop: (mode: 'stop' | 'retire') => void = () => undefined;
  let requestMetrics: () => void = () => undefined;
  const start = new Promise<Environment>((resolve) => {
    resolveStart = resolve;
  });
  const stop = new Promise<'stop' | 'retire'>((resolve) => {
    resolveStop = resolve;
  });
  worker.on('message', (message: ToWorker) => {
    if (message === 'metrics') requestMetrics();
    else if (typeof message === 'string') resolveStop(message);
    else resolveStart(message.start);
  });
  worker.on('disconnect', () => {
    // Without this, node:cluster ends the process at once, in the middle of its requests.
    worker.exitedAfterDisconnect = true;
    resolveStop('stop');
  });
  // A signal to the process group arrives here too, in addition to the primary's message.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolveStop('stop'));
  // Only the primary acts on SIGUSR2. Without a listener, the signal would end this process.
  process.on('SIGUSR2', () => undefined);
  return {
    start,
    stop,
    onMetrics(callback) {
      requestMetrics = callback;
    },
  };
}

async function serve(worker: Worker, commands: Commands): Promise<void> {
  await send(worker, 'listening');
  const environment = await Promise.race([commands.start, commands.stop]);
  if (typeof environment === 'string') return;
  const config = readConfig(environment);
  const log = createLog(config.LOG_LEVEL).child({ worker: worker.id });
  logConsole(log);
  exitOnUncaught(log);
  const running = await withSmallHeap(async () => {
    const { startPostern } = await import('../../app/main.js');
    return startPostern(config, { log, worker: worker.id });
  });
  const sendMetrics = async () => {
    if (running.metrics !== undefined) await send(worker, { metrics: await running.metrics.read() });
  };
  commands.onMetrics(() => void sendMetrics());
  await send(worker, { ready: running.url });
  if ((await commands.stop) === 'retire') await releaseClients(running.app.server);
  if (!worker.isConnected()) log.warn({}, 'the primary process has ended, so its worker stops');
  await running.close();
  await sendMetrics();
}

/**
 * Lets clients connect to another worker before this one closes. Otherwise a client that sends a request while its connection
 * closes would get no response, and a readiness probe would report that the service stops.
 */
async function releaseClients(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  await wait(retirementMs.clients);
  await waitAtMost(retirementMs.requests, new Promise((resolve) => server.close(resolve)));
}

async function failAfterDeadline({ stop }: Commands): Promise<never> {
  await stop;
  await wait(stopDeadlineMs, undefined, { ref: false });
  throw new Error('The worker did not stop in time.');
}

/** Resolves when the message was sent, or cannot be sent because the primary is gone. */
function send(worker: Worker, message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isConnected()) worker.send(message, () => resolve());
    else resolve();
  });
}

async function run(worker: Worker): Promise<number> {
  const commands = receiveCommands(worker);
  try {
    await Promise.race([serve(worker, commands), failAfterDeadline(commands)]);
    return 0;
  } catch (error) {
    await send(worker, { failed: describeFailure(error) });
    return 1;
  }
}

if (cluster.worker === undefined) throw new Error('Only `postern serve` starts this program.');
process.exit(await run(cluster.worker));
