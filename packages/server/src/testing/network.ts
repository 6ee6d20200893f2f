import type { Fetch } from '@postern/client';

/** `offline`: requests fail as without a network. A number: they get a problem with this status. */
export type Disturbance = 'offline' | 429 | 503;

const codes = { 429: 'too_many_requests', 503: 'overloaded' } as const;

const problemOf = (status: 429 | 503) =>
  new Response(
    JSON.stringify({
      type: `urn:postern:problem:${codes[status]}`,
      title: 'Disturbed by a test',
      detail: 'Disturbed by a test',
      status,
      request_id: 'test',
      errors: [],
    }),
    { status, headers: { 'content-type': 'application/problem+json', 'retry-after': '1' } },
  );

/** The network of the clients of a test, which a test can disturb. */
export function createNetwork() {
  let current: Disturbance | undefined;
  let cut = new AbortController();

  const send: Fetch = async (input, init) => {
    if (current === 'offline') throw new TypeError('fetch failed');
    if (current !== undefined) return problemOf(current);
    const signals = [cut.signal, ...(init?.signal ? [init.signal] : [])];
    return fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
  return {
    fetch: send,
    /** Disturbs requests while the function runs. Requests and streams in progress are cut. */
    async disturb<T>(how: Disturbance, during: () => Promise<T>): Promise<T> {
      const previous = current;
      current = how;
      cut.abort(new TypeError('fetch failed'));
      cut = new AbortController();
      try {
        return await during();
      } finally {
        current = previous;
      }
    },
  };
}
