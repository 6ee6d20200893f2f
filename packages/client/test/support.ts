import { onTestFinished, vi } from 'vitest';
import type { TestApp } from '../../../test/support/app.js';
import { codeOf, createUser, password } from '../../../test/support/users.js';
import {
  createLogin,
  createPostern,
  type Fetch,
  memoryStorage,
  type Postern,
  type PosternOptions,
} from '../src/index.js';
import * as time from '../src/time.js';

/** A `fetch` that records what was sent, and whose answers a test can replace. */
export interface Network {
  readonly fetch: Fetch;
  /** The requests, such as `POST /v1/sessions`. */
  readonly sent: string[];
  /** How often a request was sent. */
  count(request: string): number;
  /**
   * Answers a request in place of the service. If it returns undefined, the request goes on to the service. If it throws,
   * the network is lost.
   *
   * @param number how often this request was sent until now
   */
  answer: ((request: string, number: number) => Response | undefined | Promise<Response | undefined>) | undefined;
}

export function createNetwork(): Network {
  const network: Network = {
    sent: [],
    answer: undefined,
    count: (request) => network.sent.filter((sentRequest) => sentRequest === request).length,
    async fetch(input, init) {
      const { pathname } = new URL(input instanceof Request ? input.url : `${input}`);
      const request = `${init?.method ?? 'GET'} ${pathname}`;
      network.sent.push(request);
      return (await network.answer?.(request, network.count(request))) ?? fetch(input, init);
    },
  };
  return network;
}

/** An answer as Postern sends it. */
export function problem(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Response {
  const body = {
    type: `urn:postern:problem:${code}`,
    title: code,
    status,
    detail: code,
    request_id: 'x',
    errors: [{ code }],
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}
export const lost = () => {
  throw new TypeError('fetch failed');
};

/**
 * Until the end of the test, the pauses of all clients are shorter by this factor, and their stopwatches run faster. The limits
 * of requests do not change, because the service takes its time.
 */
export function withFastTime(factor = 25): void {
  const { startTimer, stopwatch } = time;
  const spies = [
    vi.spyOn(time, 'startTimer').mockImplementation((end, milliseconds) => startTimer(end, milliseconds / factor)),
    vi.spyOn(time, 'stopwatch').mockImplementation(() => {
      const elapsed = stopwatch();
      return () => elapsed() * factor;
    }),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
}

/** A client on a new device. */
export function clientOf({ url }: Pick<TestApp, 'url'>, options: Partial<PosternOptions> = {}): Postern {
  // A machine with many tests may take longer to answer than the default.
  return createPostern({ url, storage: memoryStorage(), timeout: 60_000, ...options });
}

/** A new user, and a client that is signed in as this user. */
export async function signedIn(app: TestApp, options: Partial<PosternOptions> = {}, fields: object = {}) {
  const user = await createUser(app, fields);
  const postern = clientOf(app, options);
  const state = await createLogin(postern)
    .start()
    .password({ identity: user.username ?? '', password });
  if (state.step !== 'done') throw new Error(`not signed in: ${JSON.stringify(state)}`);
  return { user, postern };
}

/** The code that was sent for the last login of a phone number or mail address. */
export async function lastCode(app: TestApp): Promise<string> {
  const { body } = await app.api<{ authentication_id: string | null }[]>('GET', '/admin/v1/outbox?limit=1', {
    bearer: app.adminKey,
  });
  return codeOf(app, body[0]?.authentication_id ?? '');
}
