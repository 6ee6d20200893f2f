import { pino } from 'pino';
import type { AnsweredRequest, RequestObserver } from '../../statistics/meters.js';

/** The access log of a process. */
export interface AccessLog {
  readonly onAnswered: RequestObserver;
  /** Writes the lines that it still holds. */
  close(): Promise<void>;
}

/** Bytes that are collected before a write, and the milliseconds after which fewer are written too. */
const buffer = { minLength: 4096, periodicFlush: 500 };

/** Writes one JSON line for each answered request. It collects lines, because a write for each would cost a check 2 %. */
export function createAccessLog(options: {
  readonly worker: number | undefined;
  readonly destination?: { write(line: string): void } | undefined;
}): AccessLog {
  const { worker, destination } = options;
  if (destination !== undefined) {
    return { onAnswered: (answered) => destination.write(lineOf(answered, worker)), close: async () => undefined };
  }
  const output = pino.destination({ fd: 1, sync: false, ...buffer });
  return {
    onAnswered: (answered) => output.write(lineOf(answered, worker)),
    close: async () => output.flushSync(),
  };
}

/** Written by hand, because `JSON.stringify` takes 8 µs. No value needs escapes: a method is a token (RFC 9110, 5.6.2). */
function lineOf(answered: AnsweredRequest, worker: number | undefined): string {
  const { requestId, method, route, status, duration, userId } = answered;
  const number = worker === undefined ? '' : `"worker":${worker},`;
  const user = userId === undefined ? '' : `"user_id":"${userId}",`;
  const milliseconds = Math.round(duration * 1000) / 1000;
  return `{"level":"info","time":"${timeNow()}",${number}"request_id":"${requestId}","method":"${method}","route":"${route}","status":${status},"ms":${milliseconds},${user}"msg":"request"}\n`;
}

let second = 0;
let secondText = '';

/** The time in UTC, as `toISOString` writes it. Most of it is the same for all lines of a second. */
function timeNow(): string {
  const now = Date.now();
  const since = now - second;
  if (since < 0 || since >= 1000) {
    second = now - (now % 1000);
    secondText = new Date(second).toISOString().slice(0, 20);
  }
  return `${secondText}${String(now - second).padStart(3, '0')}Z`;
}
