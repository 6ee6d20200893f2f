// Lists and badges where a proxy, a scanner or the browser gives the client no stream.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import {
  createInbox,
  createInboxView,
  type InboxEvent,
  type InboxSnapshot,
  type PosternOptions,
} from '../../src/index.js';
import * as time from '../../src/time.js';
import { html, streamFaults } from '../fake/stream-faults.js';
import { createNetwork, signedIn, withFastTime } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

async function publish(userId: string, description: string, type = 'payment'): Promise<void> {
  const body = { user_id: userId, notification_type: type, description };
  const headers = { 'idempotency-key': randomUUID() };
  await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body, headers });
}
const textsOf = ({ items }: InboxSnapshot) => items.map(({ description }) => description);
const until = (view: { readonly current: InboxSnapshot }, what: string, is: (shown: InboxSnapshot) => boolean) =>
  eventually(what, async () => (is(view.current) ? view.current : undefined));

/** Ends each pause at once, so that tests do not wait for them. */
const withoutPauses: Pick<PosternOptions, 'onResume'> = {
  onResume(wake) {
    const timer = setTimeout(wake, 20);
    return () => clearTimeout(timer);
  },
};

describe.each(streamFaults)('a stream that %s', (_name, answer) => {
  test('delays neither the list nor the badge, nor what is published later', async () => {
    withFastTime();
    const network = createNetwork();
    network.answer = (request) => (request === 'GET /v1/notifications/stream' ? answer() : undefined);
    const { postern, user } = await signedIn(app, { fetch: network.fetch, ...withoutPauses });
    await publish(user.id, 'before');
    const view = createInboxView(postern, createInbox(postern));
    const end = view.subscribe(() => undefined);
    const shown = await until(view, 'the list', ({ loading }) => !loading);
    expect([textsOf(shown), shown.unread.unread_count, shown.error]).toEqual([['before'], 1, null]);
    await publish(user.id, 'after');
    await until(view, 'the news', (now) => textsOf(now).join() === 'after,before' && now.unread.unread_count === 2);
    // What the user reads on another device arrives too.
    await createInbox(postern).markRead({ sequence: 2 });
    await until(view, 'the read position', ({ unread }) => unread.unread_count === 0);
    end();
    postern.close();
  });
});

test('a stream that never answers is given up, and events arrive once, in order', async () => {
  withFastTime();
  const network = createNetwork();
  network.answer = (request) => (request === 'GET /v1/notifications/stream' ? new Promise(() => {}) : undefined);
  const { postern, user } = await signedIn(app, { fetch: network.fetch, ...withoutPauses });
  for (let count = 0; count < 3; count += 1) await publish(user.id, `old ${count}`);
  const controller = new AbortController();
  const events: InboxEvent[] = [];
  const ended = (async () => {
    for await (const event of createInbox(postern).live({ signal: controller.signal })) events.push(event);
  })().catch(() => undefined);
  await eventually('polling', async () =>
    events.find((event) => event.type === 'connection' && event.connection === 'polling'),
  );
  for (let count = 0; count < 3; count += 1) await publish(user.id, `new ${count}`);
  const puts = () => events.flatMap((event) => (event.type === 'put' ? [event.notification.description] : []));
  await eventually('the news', async () => (puts().includes('new 2') ? true : undefined));
  expect(puts()).toEqual(['new 0', 'new 1', 'new 2']);
  // The client does not read the whole inbox to find the position from which it follows.
  expect(network.sent.filter((request) => request === 'GET /v1/notifications/stream').length).toBeGreaterThan(0);
  controller.abort();
  await ended;
  postern.close();
});

test('a filter applies to polls as well, and changes that it hides are read once', async () => {
  const asked: string[] = [];
  const { postern, user } = await signedIn(app, {
    ...withoutPauses,
    fetch(input, init) {
      if (`${input}`.includes('/changes')) asked.push(new URL(`${input}`).searchParams.get('after') ?? '');
      return fetch(input, init);
    },
  });
  const inbox = createInbox(postern, { stream: 'poll' });
  const view = createInboxView(postern, inbox, { filter: { notification_type: 'pool' } });
  const end = view.subscribe(() => undefined);
  await until(view, 'the list', ({ loading }) => !loading);
  await publish(user.id, 'hidden', 'payment');
  await publish(user.id, 'shown', 'pool');
  await until(view, 'the news', (shown) => textsOf(shown).join() === 'shown');
  await publish(user.id, 'hidden too', 'payment');
  await eventually('the position after it', async () => (asked.at(-1) === '3' ? true : undefined));
  end();
  postern.close();
});

test('a wrong filter is an error, and is not sent again and again', async () => {
  const network = createNetwork();
  const { postern } = await signedIn(app, { fetch: network.fetch, ...withoutPauses });
  const view = createInboxView(postern, createInbox(postern), { filter: 'nonsense:eq:1' });
  const end = view.subscribe(() => undefined);
  await until(view, 'the error', ({ error }) => error !== null);
  await expect(
    createInbox(postern).live({ filter: 'nonsense:eq:1' })[Symbol.asyncIterator]().next(),
  ).resolves.toMatchObject({ value: { type: 'connection' } });
  const events = createInbox(postern).live({ filter: 'nonsense:eq:1' });
  await expect(
    (async () => {
      for await (const _ of events);
    })(),
  ).rejects.toMatchObject({ code: 'validation_failed' });
  end();
  postern.close();
});

describe('after an error, while a stream lives,', () => {
  test.each(['GET /v1/notifications/page', 'GET /v1/notifications/marker'])('%s is sent again', async (failing) => {
    const network = createNetwork();
    let isDown = true;
    network.answer = (request) => (isDown && request === failing ? html(502) : undefined);
    const { postern, user } = await signedIn(app, { fetch: network.fetch, ...withoutPauses });
    await publish(user.id, 'hello');
    const view = createInboxView(postern, createInbox(postern));
    const end = view.subscribe(() => undefined);
    await until(view, 'the stream', ({ connection }) => connection === 'live');
    expect(await until(view, 'the error', ({ error }) => error !== null)).toMatchObject({ loading: false, items: [] });
    isDown = false;
    const shown = await until(view, 'the list', ({ items }) => items.length === 1);
    expect(shown).toMatchObject({ error: null, unread: { unread_count: 1 }, connection: 'live' });
    expect(network.count('GET /v1/notifications/stream')).toBe(1);
    end();
    postern.close();
  });

  test('the next page is read again, and the count', async () => {
    const network = createNetwork();
    let isDown = false;
    network.answer = (request) => (isDown && /page|marker/.test(request) ? html(502) : undefined);
    const errors: unknown[] = [];
    const options = { fetch: network.fetch, ...withoutPauses, onError: (error: unknown) => errors.push(error) };
    const { postern, user } = await signedIn(app, options);
    for (const text of ['1', '2', '3']) await publish(user.id, text);
    const view = createInboxView(postern, createInbox(postern), { limit: 2 });
    const end = view.subscribe(() => undefined);
    await until(view, 'the list', ({ items }) => items.length === 2);
    isDown = true;
    await view.loadMore();
    expect(view.current).toMatchObject({ loading: false, hasMore: true, error: { kind: 'foreign_answer' } });
    await publish(user.id, '4');
    await eventually('the failed count', async () => errors[0]);
    isDown = false;
    await until(view, 'all', (now) => textsOf(now).join() === '4,3,2,1' && now.unread.unread_count === 4);
    expect(view.current.error).toBeNull();
    end();
    postern.close();
  });
});

test('an event that arrives while the list is read is not lost', async () => {
  const network = createNetwork();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { postern, user } = await signedIn(app, {
    async fetch(input, init) {
      const answer = await network.fetch(input, init);
      if (!`${input}`.includes('/page')) return answer;
      // The answer was made before the event, and arrives after it.
      const text = await answer.text();
      await held;
      return new Response(text, answer);
    },
  });
  await publish(user.id, 'before');
  const view = createInboxView(postern, createInbox(postern));
  const end = view.subscribe(() => undefined);
  await until(view, 'the stream', ({ connection }) => connection === 'live');
  await eventually('the list to be requested', async () => network.sent.find((request) => request.endsWith('/page')));
  await publish(user.id, 'meanwhile');
  await until(view, 'the event', (shown) => textsOf(shown).includes('meanwhile'));
  release();
  await until(view, 'the list', ({ loading }) => !loading);
  expect(textsOf(view.current)).toEqual(['meanwhile', 'before']);
  end();
  postern.close();
});

describe('a hidden tab', () => {
  /** The page of the tests, which can be hidden. */
  function page() {
    const listeners = new Set<() => void>();
    const document = { visibilityState: 'visible' };
    vi.stubGlobal('document', document);
    vi.stubGlobal('addEventListener', (type: string, listener: () => void) => {
      if (type === 'visibilitychange') listeners.add(listener);
    });
    vi.stubGlobal('removeEventListener', (_type: string, listener: () => void) => listeners.delete(listener));
    return (state: 'visible' | 'hidden') => {
      document.visibilityState = state;
      for (const listener of [...listeners]) listener();
    };
  }

  test('gives its stream back, and continues where it stopped', async () => {
    const network = createNetwork();
    const setPage = page();
    const signals: AbortSignal[] = [];
    const { postern, user } = await signedIn(app, {
      fetch(input, init) {
        if (`${input}`.includes('/stream') && init?.signal) signals.push(init.signal);
        return network.fetch(input, init);
      },
    });
    try {
      const view = createInboxView(postern, createInbox(postern, { stream: 'tab' }));
      const end = view.subscribe(() => undefined);
      await until(view, 'the stream', ({ connection, loading }) => connection === 'live' && !loading);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      setPage('hidden');
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      await until(view, 'polling', ({ connection }) => connection === 'polling');
      await publish(user.id, 'while it was hidden');
      setPage('visible');
      await until(view, 'what was missed', (shown) => textsOf(shown).join() === 'while it was hidden');
      await until(view, 'the stream', ({ connection }) => connection === 'live');
      expect(network.count('GET /v1/notifications/page')).toBe(1);
      end();
    } finally {
      vi.unstubAllGlobals();
      postern.close();
    }
  });

  test('that is loaded hidden shows its list, and opens a stream when the user looks at it', async () => {
    const network = createNetwork();
    const setPage = page();
    setPage('hidden');
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    try {
      await publish(user.id, 'hello');
      const view = createInboxView(postern, createInbox(postern, { stream: 'tab' }));
      const end = view.subscribe(() => undefined);
      await until(view, 'the list', (shown) => textsOf(shown).join() === 'hello');
      expect(network.count('GET /v1/notifications/stream')).toBe(0);
      setPage('visible');
      await until(view, 'the stream', ({ connection }) => connection === 'live');
      end();
    } finally {
      vi.unstubAllGlobals();
      postern.close();
    }
  });

  test('that the user opens during a poll opens a stream at once', async () => {
    const pauses = vi.spyOn(time, 'startTimer');
    const network = createNetwork();
    const setPage = page();
    setPage('hidden');
    network.answer = (request) => {
      if (request === 'GET /v1/notifications/changes') setPage('visible');
      return undefined;
    };
    const { postern } = await signedIn(app, { fetch: network.fetch });
    try {
      const view = createInboxView(postern, createInbox(postern, { stream: 'tab' }));
      const end = view.subscribe(() => undefined);
      await until(view, 'the stream', ({ connection }) => connection === 'live');
      expect(network.count('GET /v1/notifications/changes')).toBe(1);
      // The pause between two polls.
      expect(pauses.mock.calls.map(([, milliseconds]) => milliseconds)).not.toContain(15_000);
      end();
    } finally {
      pauses.mockRestore();
      vi.unstubAllGlobals();
      postern.close();
    }
  });
});

describe('a mark as read that fails', () => {
  test('takes back only its own part', async () => {
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    for (const text of ['1', '2', '3', '4']) await publish(user.id, text);
    const view = createInboxView(postern, createInbox(postern));
    const end = view.subscribe(() => undefined);
    await until(view, 'the list', ({ items }) => items.length === 4);
    let fail = () => {};
    network.answer = (request, number) => {
      if (request !== 'PUT /v1/notifications/marker' || number !== 1) return undefined;
      return new Promise((resolve) => {
        fail = () => resolve(html(502));
      });
    };
    const marked = view.markRead({ sequence: 3 });
    await eventually('the request', async () =>
      network.count('PUT /v1/notifications/marker') === 1 ? true : undefined,
    );
    expect(view.current.unread).toMatchObject({ last_read_sequence: 3, unread_count: 1 });
    // Meanwhile another device reads the first two, and a new one arrives.
    const session = await postern.getSession();
    const position = { bearer: session?.token ?? '', body: { last_read_sequence: 2 } };
    await app.api('PUT', '/v1/notifications/marker', position);
    await publish(user.id, '5');
    await until(view, 'the new one', ({ items }) => items.length === 5);
    expect(view.current.unread).toMatchObject({ last_read_sequence: 3, unread_count: 2 });
    fail();
    await marked;
    expect(view.current.error).toMatchObject({ kind: 'foreign_answer' });
    expect(view.current.unread.last_read_sequence).toBe(2);
    await until(view, 'the count', ({ unread, error }) => unread.unread_count === 3 && error === null);
    expect(view.current.items.map(({ isUnread }) => isUnread)).toEqual([true, true, true, false, false]);
    end();
    postern.close();
  });

  test('leaves a later one that succeeds', async () => {
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    for (const text of ['1', '2', '3']) await publish(user.id, text);
    const view = createInboxView(postern, createInbox(postern));
    const end = view.subscribe(() => undefined);
    await until(view, 'the list', ({ items }) => items.length === 3);
    network.answer = (request, number) =>
      request === 'PUT /v1/notifications/marker' && number === 1 ? html(502) : undefined;
    await Promise.all([view.markRead({ sequence: 1 }), view.markRead({ sequence: 3 })]);
    expect(view.current.unread).toMatchObject({ last_read_sequence: 3, unread_count: 0 });
    end();
    postern.close();
  });
});
