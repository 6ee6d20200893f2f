// A network that goes and comes again and again, and pages with many views.
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createInbox, createInboxView, createPostern } from '../../src/index.js';
import { stopClocks } from '../fake/clocks.js';
import { createInboxService, storageOf } from '../fake/inbox-service.js';

// What a page loads later is loaded before the clocks stop.
beforeAll(() => import('../../src/inbox/more.js'));

/** A page that counts the listeners to its events. */
function stubPage() {
  const listeners: { readonly type: string; readonly listener: (event: object) => void }[] = [];
  vi.stubGlobal('addEventListener', (type: string, listener: () => void) => listeners.push({ type, listener }));
  vi.stubGlobal('removeEventListener', (type: string, listener: () => void) => {
    const index = listeners.findIndex((one) => one.type === type && one.listener === listener);
    if (index >= 0) listeners.splice(index, 1);
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  return {
    listeners,
    happen(type: string) {
      for (const one of [...listeners]) if (one.type === type) one.listener({});
    },
  };
}

test('fifty losses of the network leave no timer, listener or stream behind', async () => {
  const clocks = stopClocks();
  const page = stubPage();
  const service = createInboxService(clocks.now);
  const postern = createPostern({
    ...{ url: 'https://auth.example.com', storage: storageOf('ada'), tabs: false, fetch: service.fetch },
  });
  const view = createInboxView(postern, createInbox(postern));
  const before = [vi.getTimerCount(), page.listeners.length];
  const end = view.subscribe(() => undefined);
  const isLive = () => view.current.connection === 'live' && !view.current.loading;
  await clocks.until('stream', isLive, 10_000);
  const counts = () => [service.streams.size, vi.getTimerCount(), page.listeners.length];
  const first = counts();
  expect(first[0]).toBe(1);
  for (let flap = 0; flap < 50; flap += 1) {
    service.answer = () => Promise.reject(new TypeError('fetch failed'));
    for (const stream of [...service.streams]) {
      service.streams.delete(stream);
      stream.error(new TypeError('network error'));
    }
    await clocks.advance((flap % 7) * 500);
    service.answer = undefined;
    service.publish(`during flap ${flap}`);
    page.happen('online');
    page.happen('online');
    await clocks.advance(200);
  }
  await clocks.until('all news', () => view.current.items.length === 50, 30_000);
  await clocks.until('stream', () => service.streams.size === 1 && isLive(), 30_000);
  // The streams that were cut have no heartbeat any more. A request that runs at this moment has a timer too, until it ends.
  await clocks.advance(16_000);
  await clocks.until('end of all requests', () => vi.getTimerCount() <= (first[1] ?? 0), 16_000);
  expect(counts()).toEqual(first);
  end();
  await clocks.advance(100);
  expect(counts()).toEqual([0, ...before]);
  postern.close();
});

test('hundreds of subscribers of a view share one stream, which ends with the last of them', async () => {
  const clocks = stopClocks();
  const service = createInboxService(clocks.now);
  const postern = createPostern({
    ...{ url: 'https://auth.example.com', storage: storageOf('ada'), tabs: false, fetch: service.fetch },
  });
  const view = createInboxView(postern, createInbox(postern));
  // As StrictMode of React does: each subscribes, leaves and subscribes again.
  const ends = Array.from({ length: 300 }, () => {
    view.subscribe(() => undefined)();
    return view.subscribe(() => undefined);
  });
  await clocks.until('stream', () => view.current.connection === 'live', 10_000);
  expect(service.streams.size).toBe(1);
  for (const end of ends) end();
  await clocks.advance(100);
  expect([service.streams.size, vi.getTimerCount()]).toEqual([0, 0]);
  postern.close();
});
