// The program of one worker: a Postern that shares the port with its siblings. The primary starts it, tells it what to
// serve with and when to stop; when the primary is gone it stops too, so that nothing keeps the port.
import cluster, { type Worker } from 'node:cluster';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../../config.js';
import { waitAtMost } from '../../lib/patience.js';
import { createLog } from '../../log.js';
import { describeFailure } from '../failure.js';
import { collectYoungGarbageSimply, inLittleMemory } from '../garbage.js';
import type { Environment, FromWorker, ToWorker } from './messages.js';
import { STOP_DEADLINE } from './stop-deadline.js';

interface Orders {
  readonly start: Promise<Environment>;
  /** How to. */
  readonly stop: Promise<'stop' | 'retire'>;
}

/** Milliseconds that a worker which retires gives its clients to connect anew, and then those that still have requests. */
const farewell = { toClients: 2000, toRequests: 2000 };

/** Listens from the beginning: an order or a signal must not come too early. */
function receiveOrders(worker: Worker): Orders {
  let begin: (environment: Environment) => void = () => undefined;
  let end: (how: 'stop' | 'retire') => void = () => undefined;
  const start = new Promise<Environment>((resolve) => {
    begin = resolve;
  });
  const stop = new Promise<'stop' | 'retire'>((resolve) => {
    end = resolve;
  });
  worker.on('message', (order: ToWorker) => {
    if (typeof order === 'string') end(order);
    else begin(order.start);
  });
  worker.on('disconnect', () => {
    // Else node:cluster ends the process on the spot, whatever it is answering.
    worker.exitedAfterDisconnect = true;
    end('stop');
  });
  // A signal to the whole group comes here too, beside the primary's order.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => end('stop'));
  // The primary's.
  process.on('SIGUSR2', () => undefined);
  return { start, stop };
}

async function serve(worker: Worker, orders: Orders): Promise<void> {
  await tell(worker, 'here');
  const environment = await Promise.race([orders.start, orders.stop]);
  if (typeof environment === 'string') return;
  const config = readConfig(environment);
  const log = createLog(config.LOG_LEVEL).child({ worker: worker.id });
  const running = await inLittleMemory(async () => {
    const { startPostern } = await import('../../main.js');
    return startPostern(config, { log });
  });
  await tell(worker, { ready: running.url });
  if ((await orders.stop) === 'retire') await sayFarewell(running.app.server);
  if (!worker.isConnected()) log.warn({}, 'the primary process has ended, and so does its worker');
  await running.close();
}

/**
 * Lets clients go to another worker before this one closes: a client that sends its next request at the moment when its
 * connection is closed would get no answer, and one that asks whether the service is ready would hear that it stops.
 */
async function sayFarewell(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  await wait(farewell.toClients);
  await waitAtMost(farewell.toRequests, new Promise((resolve) => server.close(resolve)));
}

async function overdue({ stop }: Orders): Promise<never> {
  await stop;
  await wait(STOP_DEADLINE, undefined, { ref: false });
  throw new Error('The worker did not stop in time.');
}

/** Resolves when it was sent, or never will be because nobody is there. */
function tell(worker: Worker, message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isConnected()) worker.send(message, () => resolve());
    else resolve();
  });
}

async function run(worker: Worker): Promise<number> {
  const orders = receiveOrders(worker);
  try {
    await Promise.race([serve(worker, orders), overdue(orders)]);
    return 0;
  } catch (error) {
    await tell(worker, { failed: describeFailure(error) });
    return 1;
  }
}

if (cluster.worker === undefined) throw new Error('This is started by `postern serve` only.');
collectYoungGarbageSimply();
process.exit(await run(cluster.worker));
