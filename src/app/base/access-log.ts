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

function lineOf(
  { requestId, method, route, status, duration, userId }: AnsweredRequest,
  worker: number | undefined,
): string {
  const line = {
    level: 'info',
    time: new Date().toISOString(),
    ...(worker !== undefined && { worker }),
    request_id: requestId,
    method,
    route,
    status,
    ms: Math.round(duration * 1000) / 1000,
    ...(userId !== undefined && { user_id: userId }),
    msg: 'request',
  };
  return `${JSON.stringify(line)}\n`;
}
