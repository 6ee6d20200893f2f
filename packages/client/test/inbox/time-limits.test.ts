// How long a list and its news may take, by clocks that the tests move.
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isThorough } from '../../../../test/support/rounds.js';
import { createHub } from '../../src/inbox/shared/hub.js';
import type { ToTab, ToWorker } from '../../src/inbox/shared/messages.js';
import { createInbox, createInboxView, createPostern, type InboxOptions, type InboxSnapshot } from '../../src/index.js';
import { type Clocks, settle, stopClocks } from '../fake/clocks.js';
import { createInboxService, type InboxService, storageOf } from '../fake/inbox-service.js';
import { html, streamFaults } from '../fake/stream-faults.js';
import { lost, problem } from '../support.js';

// What a page loads later is loaded before the clocks stop.
beforeAll(() => Promise.all([import('../../src/inbox/more.js'), import('../../src/inbox/shared/address.js')]));
afterEach(() => {
  vi.unstubAllGlobals();
});

/** A `SharedWorker` with the code of the real one, in this process. */
function stubSharedWorker(): void {
  const hub = createHub();
  vi.stubGlobal(
    'SharedWorker',
    class {
      onerror = null;
      readonly port = {
        onmessage: null as ((event: { readonly data: ToTab }) => void) | null,
        postMessage: (data: ToWorker) => queueMicrotask(() => workerPort.onmessage?.({ data })),
        close: () => undefined,
      };
      constructor() {
        workerPort = {
          onmessage: null,
          postMessage: (data) => queueMicrotask(() => this.port.onmessage?.({ data })),
        };
        hub.connect(workerPort);
      }
    },
  );
  let workerPort: Parameters<typeof hub.connect>[0];
}

interface Shown {
  /** The user comes back to the page. */
  resume(): void;
  readonly clocks: Clocks;
  readonly service: InboxService;
  readonly view: { readonly current: InboxSnapshot };
}
/** A page that shows a list with one notification, with stopped clocks. `chance`: what `Math.random` returns. */
function show(answer: InboxService['answer'], chance = 0.999, stream: InboxOptions['stream'] = 'tab'): Shown {
  vi.spyOn(Math, 'random').mockReturnValue(chance);
  const clocks = stopClocks();
  const service = createInboxService(clocks.now);
  service.answer = answer;
  service.publish('first');
  vi.stubGlobal('fetch', service.fetch);
  if (stream === 'shared') stubSharedWorker();
  const wakers = new Set<() => void>();
  const postern = createPostern({
    ...{ url: 'https://auth.example.com', storage: storageOf('ada'), tabs: false },
    onResume(wake) {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
  });
  const view = createInboxView(postern, createInbox(postern, { stream }));
  const end = view.subscribe(() => undefined);
  onTestFinished(() => {
    end();
    postern.close();
    vi.restoreAllMocks();
  });
  return { clocks, service, view, resume: () => [...wakers].forEach((wake) => void wake()) };
}
const textsOf = ({ current }: Shown['view']) => current.items.map(({ description }) => description);

const isStream = (request: string) => request === 'GET /v1/notifications/stream';

describe.each(['tab', 'shared'] as const)('with a stream for each of: %s', (stream) => {
  describe.each(streamFaults)('a stream that %s', (name, answer) => {
    // Each fault meets both kinds of streams and both chances.
    const place = streamFaults.findIndex(([other]) => other === name) + (stream === 'tab' ? 0 : 1);
    test.each(isThorough ? [0, 0.999] : [place % 2 === 0 ? 0 : 0.999])(
      'delays the list by 4 s at most, and news by 30 s (chance %d)',
      async (chance) => {
        const { clocks, service, view } = show((request) => (isStream(request) ? answer() : undefined), chance, stream);
        await clocks.until('list', () => !view.current.loading, 4000);
        expect(textsOf(view)).toEqual(['first']);
        expect(view.current.unread.unread_count).toBe(1);
        // At any moment, because the pauses become longer.
        for (let number = 2; number < 14; number += 1) {
          await clocks.advance(number * 700, 350);
          service.publish(`number ${number}`);
          await clocks.until(`number ${number}`, () => textsOf(view)[0] === `number ${number}`, 30_000);
          await clocks.until(`count of ${number}`, () => view.current.unread.unread_count === number, 30_000);
        }
        expect(service.sent.filter(({ request }) => isStream(request)).length).toBeGreaterThan(2);
      },
    );
  });

  test('a stream that never answers is opened three times in five minutes at most, and at once when the user comes back', async () => {
    const openings: number[] = [];
    const { clocks, service, view, resume } = show(
      (request) => {
        if (!isStream(request)) return undefined;
        openings.push(Math.round(clocks.now()));
        return new Promise(() => {});
      },
      0,
      stream,
    );
    await clocks.until('list', () => !view.current.loading, 4000);
    await clocks.advance(1_800_000, 500);
    for (const [index, at] of openings.entries())
      expect(openings.slice(index).filter((other) => other < at + 300_000).length).toBeLessThan(4);
    expect(openings.length).toBeGreaterThan(6);
    expect(view.current.connection).toBe('polling');
    const before = openings.length;
    resume();
    await clocks.until('opening', () => openings.length > before, 1000);
    service.publish('news');
    await clocks.until('news', () => textsOf(view)[0] === 'news', 30_000);
  });
});

test('a worker that does not run delays the list by 4 s at most, and news by 30 s', async () => {
  const { clocks, service, view } = show(undefined, 0.999, 'shared');
  // Before the view asks for it.
  vi.stubGlobal(
    'SharedWorker',
    class {
      port = { postMessage: () => undefined, close: () => undefined };
    },
  );
  await clocks.until('list', () => !view.current.loading, 4000);
  service.publish('news');
  await clocks.until('news', () => textsOf(view)[0] === 'news', 30_000);
});

const listFaults: readonly [string, () => Response | Promise<Response>][] = [
  ['is a bad gateway', () => html(502)],
  ['is a page of a scanner', () => html(200)],
  ['never comes', () => new Promise(() => {})],
  ['is refused for an hour', () => problem(429, 'rate_limited', { 'retry-after': '3600' })],
  ['is refused for nine seconds', () => problem(503, 'overloaded', { 'retry-after': '9' })],
  ['is cut by the network', lost],
];
describe.each(['page', 'marker'])('while a stream lives and the %s of a list fails', (part) => {
  const failing = `GET /v1/notifications/${part}`;
  test.each(listFaults)('because its answer %s, it is read again within 30 s', async (_name, answer) => {
    let isDown = true;
    const { clocks, service, view } = show((request) => (isDown && request === failing ? answer() : undefined));
    await clocks.until('error', () => view.current.error !== null, 30_000);
    expect(view.current.connection).toBe('live');
    for (let count = 0; count < 8; count += 1) {
      const before = service.sent.filter(({ request }) => request === failing).length;
      await clocks.until(
        'further request',
        () => service.sent.filter(({ request }) => request === failing).length > before,
        30_000,
      );
    }
    isDown = false;
    await clocks.until('list', () => textsOf(view).join() === 'first' && view.current.error === null, 30_000);
    expect(view.current.unread.unread_count).toBe(1);
    // All this time, the stream lived.
    expect(service.sent.filter(({ request }) => isStream(request)).length).toBe(1);
    service.publish('news');
    await settle();
    expect(textsOf(view)).toEqual(['news', 'first']);
  });
});
