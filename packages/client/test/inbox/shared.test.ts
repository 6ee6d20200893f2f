import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createInbox } from '../../src/index.js';
import { signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

test('a page in the back-forward cache is not connected to the worker, and connects again when it comes back', async () => {
  const listeners = new Map<string, (event: { readonly persisted: boolean }) => void>();
  vi.stubGlobal('addEventListener', (type: string, listener: () => void) => listeners.set(type, listener));
  vi.stubGlobal('removeEventListener', () => undefined);
  const posted: string[] = [];
  class Worker {
    readonly port = {
      onmessage: null as ((event: { readonly data: object }) => void) | null,
      postMessage(message: object) {
        posted.push(...Object.keys(message));
        if ('open' in message) setTimeout(() => this.onmessage?.({ data: { beat: true } }));
      },
      close: () => undefined,
    };
  }
  vi.stubGlobal('SharedWorker', Worker);
  const { postern } = await signedIn(app);
  try {
    const events = createInbox(postern).live()[Symbol.asyncIterator]();
    const next = events.next();
    await eventually('the connection', async () => (posted.includes('alive') ? true : undefined));
    listeners.get('pagehide')?.({ persisted: true });
    // What the page still does runs before this.
    await new Promise((resolve) => setTimeout(resolve));
    expect(posted).toEqual(['open', 'alive', 'bye']);
    listeners.get('pageshow')?.({ persisted: true });
    await eventually('another connection', async () => (posted.at(-1) === 'alive' ? true : undefined));
    expect(posted).toEqual(['open', 'alive', 'bye', 'bye', 'open', 'alive']);
    postern.close();
    await next;
  } finally {
    vi.unstubAllGlobals();
  }
});
