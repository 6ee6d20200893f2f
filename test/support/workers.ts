import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { eventually } from './eventually.js';
import type { ServiceProcess } from './process.js';

interface Line {
  readonly msg?: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly request_id?: string;
  readonly url?: string;
}

/** What was parsed of the log of each service: tests ask for it often, while it grows. */
const parsed = new WeakMap<ServiceProcess['stdout'], { length: number; readonly lines: Line[] }>();

/** The log of a service. */
export function linesOf({ stdout }: Pick<ServiceProcess, 'stdout'>): readonly Line[] {
  const log = parsed.get(stdout) ?? { length: 0, lines: [] };
  parsed.set(stdout, log);
  const text = stdout();
  // The last line may not be complete yet.
  const end = text.lastIndexOf('\n') + 1;
  for (const line of text.slice(log.length, end).split('\n')) {
    if (line.startsWith('{')) log.lines.push(JSON.parse(line) as Line);
  }
  log.length = end;
  return log.lines;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The process ids of the running workers that were ready, of a service that logs at `info` at least. */
export function workersOf(service: ServiceProcess): number[] {
  const ready = linesOf(service).filter(({ msg }) => msg === 'a worker is ready');
  return ready.flatMap(({ pid }) => (pid === undefined || !isAlive(pid) ? [] : [pid]));
}

/** Waits until this number of workers is ready, none of them among `others`. */
export function newWorkers(service: ServiceProcess, count: number, others: readonly number[] = []): Promise<number[]> {
  return eventually(`${count} new workers`, async () => {
    const workers = workersOf(service);
    return workers.length === count && !workers.some((pid) => others.includes(pid)) ? workers : undefined;
  });
}

/** The number of the worker that has answered, of a service that logs at `debug`. */
export function workerOf(service: ServiceProcess, requestId: string): Promise<number> {
  return eventually(
    `the log of ${requestId}`,
    async () => linesOf(service).find((line) => line.request_id === requestId)?.worker,
  );
}

export interface RawAnswer {
  readonly status: number | undefined;
  readonly requestId: string;
  readonly text: string;
}

/** A connection that stays open, as that of a client or a load balancer does. */
export interface Connection {
  send(method: string, path: string, options?: { headers?: OutgoingHttpHeaders; body?: object }): Promise<RawAnswer>;
  close(): void;
}

/** Milliseconds, longer than any request may take: a request that waits for longer has hung. */
const timeoutMs = 60_000;

export function openConnection(url: string, { keepAlive = true } = {}): Connection {
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  return {
    send: (method, path, { headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const type = body === undefined ? {} : { 'content-type': 'application/json' };
        const request = httpRequest(url + path, {
          method,
          agent,
          headers: { ...type, ...headers },
          timeout: timeoutMs,
        });
        request.on('timeout', () => request.destroy(new Error('no answer at all')));
        request.on('error', reject);
        request.on('response', (response) => read(response).then(resolve, reject));
        request.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
}

async function read(response: IncomingMessage): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const requestId = String(response.headers['request-id']);
  return { status: response.statusCode, requestId, text: Buffer.concat(chunks).toString() };
}

/** Open connections, `each` of them to each of the workers of a service that logs at `debug`. */
export async function connectToEach(service: ServiceProcess, workers: number, each = 1): Promise<Connection[]> {
  const found = new Map<number, Connection[]>();
  return eventually(`connections to ${workers} workers`, async () => {
    const connection = openConnection(service.url);
    const { requestId } = await connection.send('GET', '/livez');
    const worker = await workerOf(service, requestId);
    const known = found.get(worker) ?? [];
    found.set(worker, known);
    if (known.length === each) connection.close();
    else known.push(connection);
    const enough = found.size === workers && [...found.values()].every(({ length }) => length === each);
    // First the first connection of each worker, then the second of each.
    return enough
      ? Array.from({ length: each }, (_, at) => [...found.values()].flatMap((of) => of[at] ?? [])).flat()
      : undefined;
  });
}
