import { setTimeout as wait } from 'node:timers/promises';
import type { ApiAnswer } from '../app.js';
import { isLong } from './service.js';

/** One answered request. Times are those of `performance.now()`. */
export interface Sample {
  readonly kind: string;
  readonly status: number;
  /** Whether it is the expected answer. */
  readonly right: boolean;
  /** Whether it is a 503 with Retry-After. */
  readonly unavailable: boolean;
  readonly text: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A request, and the check of its answer without a fault. */
export interface Request {
  send(): Promise<ApiAnswer<unknown>>;
  readonly expected: (answer: ApiAnswer<unknown>) => boolean;
}

export interface Load {
  readonly samples: readonly Sample[];
  /** Requests without an answer, or with one that is not in the OpenAPI document. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

/**
 * Milliseconds between two requests of a kind. Failures are fast: without a pause they would slow down the recovery of the service.
 * The short form leaves room for the tests that run beside it.
 */
const pause = isLong ? 10 : 100;

/** Repeats each kind of request, one at a time of each kind, until it is stopped. */
export function startLoad(requests: Readonly<Record<string, Request>>): Load {
  const samples: Sample[] = [];
  const faults: string[] = [];
  let stopping = false;
  const loops = Object.entries(requests).map(async ([kind, request]) => {
    while (!stopping) {
      await once(kind, request).then(
        (sample) => samples.push(sample),
        (error: Error) => faults.push(`${kind}: ${error.message} ${String(error.cause ?? '')}`),
      );
      await wait(pause);
    }
  });
  return {
    samples,
    faults,
    async stop() {
      stopping = true;
      await Promise.all(loops);
    },
  };
}

/** Sends each kind of request once, all at the same time. */
export function sendAll(requests: Readonly<Record<string, Request>>): Promise<Sample[]> {
  return Promise.all(Object.entries(requests).map(([kind, request]) => once(kind, request)));
}

async function once(kind: string, { send, expected }: Request): Promise<Sample> {
  const startedAt = performance.now();
  const answer = await send();
  const { status, text } = answer;
  const unavailable = status === 503 && Number(answer.headers['retry-after']) >= 1;
  return { kind, status, right: expected(answer), unavailable, text, startedAt, endedAt: performance.now() };
}
