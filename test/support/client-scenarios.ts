import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from './app.js';
import { type ClientPage, serveClientPage } from './client-page.js';
import { eventually } from './eventually.js';
import { createUser, password } from './users.js';

const step = fc.oneof(
  fc.record({ act: fc.constantFrom('publish' as const, 'change' as const, 'delete' as const), which: fc.nat(30) }),
  fc.record({ act: fc.constant('sync' as const), which: fc.nat(4) }),
);

/** A tab of a browser. Elements and values are JavaScript expressions. */
export interface ClientTab {
  goto(url: string): Promise<void>;
  /** Evaluates an expression. If it is a promise, waits for its value. */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until the expression is truthy. */
  until(expression: string): Promise<void>;
}

/** A browser with one tab. */
export interface ClientBrowser {
  readonly page: ClientTab;
  newTab(): Promise<ClientTab>;
  close(): Promise<void>;
}

/** Declares the tests of the client that every browser must pass: its storage and key, its tabs, streams and offline copy. */
export function testClientIn(launch: () => Promise<ClientBrowser>): void {
  let app: TestApp;
  let browser: ClientBrowser;
  let page: ClientPage;
  let first: ClientTab;
  beforeAll(async () => {
    app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
    page = await serveClientPage(app);
    browser = await launch();
    first = browser.page;
  });
  afterAll(async () => {
    await browser?.close();
    await page?.close();
    await app?.close();
  });

  /** Opens the page with a client that keeps its login in IndexedDB. @returns the status of the client */
  async function open(tab: ClientTab, options: object = {}): Promise<string> {
    await tab.goto(page.url);
    await tab.until('globalThis.tab');
    return tab.evaluate(`tab.open('all tabs', ${JSON.stringify(options)})`);
  }
  const logIn = ({ username }: Pick<User, 'username'>) =>
    first.evaluate(`tab.logIn(${JSON.stringify(username)}, ${JSON.stringify(password)})`);
  const publish = (userId: string, description: string) =>
    app.api<{ id: string }>('POST', '/admin/v1/notifications', {
      bearer: app.adminKey,
      body: { user_id: userId, notification_type: 'payment', description },
    });

  test('a live inbox loses and repeats nothing across a hundred cut connections', async () => {
    const user = await createUser(app);
    await open(first, { stream: 'tab' });
    await logIn(user);
    await first.evaluate('tab.hurry()');
    await first.evaluate('tab.follow()');
    await first.until('tab.isLive()');
    const sent: string[] = [];
    for (let cut = 0; cut < 100; cut += 1) {
      const before = page.streams();
      sent.push(`number ${cut}`);
      await publish(user.id, `number ${cut}`);
      page.cut();
      await eventually('another stream', async () => (page.streams() > before ? true : undefined));
    }
    await first.until(`tab.texts.at(-1) === 'number 99'`);
    expect(await first.evaluate('tab.texts')).toEqual(sent);
    await first.evaluate('tab.logOut()');
  });

  test('after any interleaving of changes and cut synchronisations, the copy in IndexedDB equals the list of Postern', async () => {
    await open(first);
    const bearer = app.adminKey;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        const user = await createUser(app);
        await logIn(user);
        const ids: string[] = [];
        for (const { act, which } of steps) {
          const path = `/admin/v1/notifications/${ids[which % Math.max(1, ids.length)] ?? user.id}`;
          if (act === 'publish') ids.push((await publish(user.id, `published ${which}`)).body.id);
          else if (act === 'change')
            await app.api('PATCH', path, { bearer, body: { description: `changed ${which}` } });
          else if (act === 'delete') await app.api('DELETE', path, { bearer });
          else {
            page.left = which;
            await first.evaluate('tab.sync()');
            page.left = Number.POSITIVE_INFINITY;
          }
        }
        expect(await first.evaluate('tab.sync()')).toBe(true);
        const [copied, listed] = await first.evaluate<[unknown[], unknown[]]>('tab.lists()');
        expect(copied).toEqual(listed);
        await first.evaluate('tab.logOut()');
      }),
      { numRuns: 5 },
    );
  });

  // Last, because browsers slow down the timers of tabs that are not visible.
  describe('with two tabs', () => {
    let second: ClientTab;
    beforeAll(async () => {
      second = await browser.newTab();
      for (const tab of [first, second]) await open(tab);
    });

    test('tabs follow each other, keep the login and its key in IndexedDB, and share a live inbox that loses nothing', async () => {
      const user = await createUser(app);
      expect(await logIn(user)).toBe('done');
      await second.until(`tab.status() === 'signed_in'`);
      const { body: devices } = await app.api<{ is_bound: boolean }[]>('GET', `/admin/v1/users/${user.id}/devices`, {
        bearer: app.adminKey,
      });
      expect(devices).toMatchObject([{ is_bound: true }]);
      // A tab that is loaded again finds the login and its key.
      expect(await open(second)).toBe('signed_in');
      for (const tab of [first, second]) {
        await tab.evaluate('tab.follow()');
        await tab.until('tab.isLive()');
      }
      expect(page.openStreams()).toBe(1);
      await publish(user.id, 'before the cut');
      await second.until(`tab.texts.join() === 'before the cut'`);
      page.cut();
      await publish(user.id, 'during the cut');
      for (const tab of [first, second]) await tab.until(`tab.texts.join() === 'before the cut,during the cut'`);
      await second.evaluate('tab.logOut()');
      await first.until(`tab.status() === 'signed_out'`);
      expect(await first.evaluate('tab.reports')).toEqual([]);
    });
  });
}
