import { pino } from 'pino';
import type { LogAddress } from '../../lib/log-address.js';
import type { AnsweredRequest, RequestObserver } from '../../statistics/meters.js';

/** The access log of a process. */
export interface AccessLog {
  readonly onAnswered: RequestObserver;
  /** Writes the lines that are still in memory. */
  close(): Promise<void>;
}

/** The number of bytes that are collected before a write, and the milliseconds after which fewer are written too. */
const buffer = { minLength: 4096, periodicFlush: 500 };

/** Writes one JSON line for each answered request. It collects lines: with one write for each line, a session check would take 2 % longer. */
export function createAccessLog(options: {
  readonly worker: number | undefined;
  readonly destination?: { write(line: string): void } | undefined;
  readonly logAddress: LogAddress;
}): AccessLog {
  const { worker, destination, logAddress } = options;
  const lineOf = (answered: AnsweredRequest) => formatLine(answered, worker, logAddress);
  if (destination !== undefined) {
    return { onAnswered: (answered) => destination.write(lineOf(answered)), close: async () => undefined };
  }
  const output = pino.destination({ fd: 1, sync: false, ...buffer });
  return {
    onAnswered: (answered) => output.write(lineOf(answered)),
    close: async () => output.flushSync(),
  };
}

/** The text is built without a library, because `JSON.stringify` takes 8 µs. No value needs escapes: a method is a token (RFC 9110, 5.6.2). */
function formatLine(answered: AnsweredRequest, worker: number | undefined, logAddress: LogAddress): string {
  const { requestId, method, route, status, duration, userId, keyId, address } = answered;
  const shown = address === undefined ? undefined : logAddress(address);
  const addressField = shown === undefined ? '' : `"address":"${shown}",`;
  const keyField = keyId === undefined ? '' : `"key_id":"${keyId}",`;
  const workerField = worker === undefined ? '' : `"worker":${worker},`;
  const userField = userId === undefined ? '' : `"user_id":"${userId}",`;
  const msField = duration === undefined ? '' : `"ms":${Math.round(duration * 1000) / 1000},`;
  return `{"level":"info","time":"${timeNow()}",${workerField}"request_id":"${requestId}","method":"${method}","route":"${route}","status":${status},${msField}${addressField}${keyField}${userField}"msg":"request"}\n`;
}

let secondStart = 0;
let secondText = '';

/** The time in UTC, as `toISOString` writes it. Most of it is the same for all lines of a second. */
function timeNow(): string {
  const now = Date.now();
  const elapsed = now - secondStart;
  if (elapsed < 0 || elapsed >= 1000) {
    secondStart = now - (now % 1000);
    secondText = new Date(secondStart).toISOString().slice(0, 20);
  }
  return `${secondText}${String(now - secondStart).padStart(3, '0')}Z`;
}
