import { setTimeout as wait } from 'node:timers/promises';
import type { ApiAnswer } from './app.js';

/** One answered request. Times are those of `performance.now()`. */
export interface Sample {
  readonly kind: string;
  readonly status: number;
  /** Whether it is what the request deserves. */
  readonly right: boolean;
  /** Whether it is a 503 that says when to come again. */
  readonly unavailable: boolean;
  readonly text: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A request, and how its answer must look while nothing is wrong. */
export interface Request {
  send(): Promise<ApiAnswer<unknown>>;
  readonly expected: (answer: ApiAnswer<unknown>) => boolean;
}

export interface Load {
  readonly samples: readonly Sample[];
  /** Requests that got no answer, or one that the API's description does not know. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

/** Sends each kind of request again and again, one at a time of each kind, until it is stopped. */
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
      // Failures are quick; without a pause they would starve the service whose recovery is watched.
      await wait(10);
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

/** Sends each kind of request once, all together. */
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
