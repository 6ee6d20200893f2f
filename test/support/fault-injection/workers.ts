import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { commandLine } from '../../embedded/embedded-postern.js';
import { eventually } from '../eventually.js';
import { createUser, passwordLogin } from '../users.js';
import { isAlive, workerOf } from '../workers.js';
import type { FaultyService } from './service.js';

/** The worker processes of the service, ready or not. */
export function workerProcesses({ pid }: FaultyService): number[] {
  const children = readdirSync('/proc').filter((entry) => parentOf(entry) === pid);
  return children.map(Number).filter((child) => commandLine(child).includes('workers/worker.js'));
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  if (isAlive(pid)) process.kill(pid, signal);
}

/** True when new connections are refused; undefined before. */
export const refusesConnections = (url: string) =>
  new Promise<true | undefined>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED' ? true : undefined));
  });

/**
 * The environment of a service that waits minutes for the rest of a request instead of 12 seconds, because a busy machine may need longer
 * until a login of `beginLogins` is completed.
 */
export const patientWorkers = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`
    import { Server } from 'node:http';
    Object.defineProperty(Server.prototype, 'requestTimeout', { get: () => 150_000, set: () => undefined });`)}`,
};

/** A running login: a worker has read its headers and waits for the rest of the body. */
async function beginLogin(service: FaultyService, username: string | null) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) });
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const send = (...lines: string[]) => socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  send('GET /livez HTTP/1.1', 'Host: localhost');
  const id = await eventually('an answer', async () => /^request-id: (\S+)/im.exec(received)?.[1]);
  const body = JSON.stringify(passwordLogin(username));
  const type = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  send('POST /v1/tokens HTTP/1.1', 'Host: localhost', 'Expect: 100-continue', ...type);
  await eventually('the service to wait for the body', async () => received.includes('100 Continue') || undefined);
  return {
    worker: await workerOf(service, id),
    async complete(): Promise<string> {
      socket.write(body);
      return eventually('the answer', async () => /"status":"(approved|rejected)"/.exec(received)?.[1]);
    },
  };
}

/** Running logins, at least two in each of both workers. */
export async function beginLogins(service: FaultyService) {
  const user = await createUser(service);
  const logins: Awaited<ReturnType<typeof beginLogin>>[] = [];
  return eventually('logins in both workers', async () => {
    logins.push(await beginLogin(service, user.username));
    const counts = new Map<number, number>();
    for (const { worker } of logins) counts.set(worker, (counts.get(worker) ?? 0) + 1);
    return counts.size === 2 && [...counts.values()].every((count) => count >= 2) ? logins : undefined;
  });
}
