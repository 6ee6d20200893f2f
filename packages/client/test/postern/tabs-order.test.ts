// Tabs whose storage, messages and requests come in any order, by clocks that the test moves.
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runs } from '../../../../test/support/rounds.js';
import {
  createAccount,
  createLogin,
  createPostern,
  type Postern,
  type PosternOptions,
  passwordProof,
} from '../../src/index.js';
import { settle, stopClocks } from '../fake/clocks.js';
import { sessionOf } from '../fake/inbox-service.js';
import { problem } from '../support.js';

// What a page loads later is loaded before the clocks stop.
beforeAll(() =>
  Promise.all([
    import('../../src/login/steps.js'),
    import('../../src/login/browser-device.js'),
    import('../../src/account/replace-token.js'),
  ]),
);

/** Work that a test does in an order of its choice. */
function createSchedule(seed: number) {
  const waiting: (() => void)[] = [];
  let state = seed + 1;
  const chance = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
  return {
    later: <T>(work: () => T) =>
      new Promise<T>((resolve) => {
        waiting.push(() => resolve(work()));
      }),
    /** @returns whether there was any */
    next: () => {
      const [work] = waiting.splice(Math.floor(chance() * waiting.length), 1);
      work?.();
      return work !== undefined;
    },
    chance,
  };
}
type Schedule = ReturnType<typeof createSchedule>;
/** The number of orders that each test tries. */
const seeds = runs(16, 40);

/** Channels between tabs. Messages arrive late, those of one tab in their order. */
function stubChannels({ later }: Schedule): void {
  interface Channel {
    onmessage: ((event: { readonly data: unknown }) => void) | undefined;
  }
  const open = new Set<Channel>();
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      onmessage: Channel['onmessage'];
      readonly sent = new Map<Channel, unknown[]>();
      constructor() {
        open.add(this);
      }
      postMessage(data: unknown) {
        for (const other of open) {
          if (other === this) continue;
          const queue = this.sent.get(other) ?? [];
          this.sent.set(other, queue);
          queue.push(data);
          void later(() => other.onmessage?.({ data: queue.shift() }));
        }
      }
      close() {
        open.delete(this);
      }
    },
  );
}

/** The storage of all tabs: each tab has its calls answered in their order, and late. */
function createStorage({ later }: Schedule, values: Map<string, string>) {
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => T): Promise<T> => {
    const result = last.then(() => later(work));
    last = result;
    return result.then((value) => later(() => value));
  };
  return {
    get: (key: string) => inOrder(() => values.get(key) ?? null),
    set: (key: string, value: string) => inOrder(() => void values.set(key, value)),
    delete: (key: string) => inOrder(() => void values.delete(key)),
  };
}

/** The tokens of a Postern that answers late. The name in a token is that of its user. */
function createService({ later }: Schedule) {
  let tokens = 0;
  const live = new Set(['ada 0']);
  const newToken = (user = '') => {
    tokens += 1;
    live.add(`${user} ${tokens}`);
    return `${user} ${tokens}`;
  };
  const userOf = (token: string) => token.split(' ')[0] ?? '';

  /** @param basic the token that comes with the request */
  function answer(request: string, init: RequestInit, basic: string): object | undefined {
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : {};
    const bearer = (new Headers(init.headers).get('authorization') ?? '').replace(/^Bearer session of /, '');
    if (request === 'POST /v1/tokens') {
      const name = /bob|cy/.exec(JSON.stringify(body.identity))?.[0];
      return { ...{ id: 'a', status: 'approved', token: newToken(name), user_id: name, device_id: 'd' } };
    }
    if (request === 'POST /v1/sessions')
      return live.has(basic) ? { ...sessionOf(userOf(basic)), token: `session of ${basic}` } : undefined;
    if (request === 'DELETE /v1/tokens') return live.delete(basic) ? {} : undefined;
    if (request === 'PUT /v1/account/password')
      return live.delete(bearer)
        ? { id: userOf(bearer), token: newToken(userOf(bearer)), authentication_id: 'a' }
        : undefined;
    throw new Error(`The test does not expect ${request}.`);
  }
  const refused = () => problem(401, 'invalid_token');
  const requestOf = (input: string | URL | Request, init: RequestInit) =>
    `${init.method ?? 'GET'} ${new URL(`${input}`).pathname}`;

  return {
    live,
    /** For pages that keep the token. */
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
      const authorization = new Headers(init.headers).get('authorization') ?? '';
      const basic = authorization.startsWith('Basic ') ? atob(authorization.slice(6)).replace(/:$/, '') : '';
      const body = await later(() => answer(requestOf(input, init), init, basic));
      return later(() => (body ? Response.json(body) : refused()));
    },
    /** Through the handler of a backend, which keeps the token in a cookie of the browser. */
    backendOf(browser: { cookie: string }) {
      return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
        const request = requestOf(input, init).replace('/auth/', '/');
        const usesCookie = request === 'POST /v1/sessions' || request === 'DELETE /v1/tokens';
        const { cookie } = browser;
        const body = await later(() => answer(request, init, cookie));
        return later(() => {
          if (request.startsWith('DELETE')) browser.cookie = '';
          if (usesCookie && body === undefined)
            return request.startsWith('DELETE') ? new Response(null, { status: 204 }) : Response.json({ token: null });
          if (body === undefined) return refused();
          if (usesCookie) return Response.json(body);
          const { token, ...shown } = body as { readonly token: string };
          browser.cookie = token;
          return Response.json(shown);
        });
      };
    },
  };
}

const actions: Record<string, (tab: Postern) => Promise<unknown>> = {
  loads: (tab) => tab.ready(),
  'signs out': (tab) => tab.logOut(),
  'signs in as Bob': (tab) => createLogin(tab).start().password({ identity: 'bob', password: 'x' }),
  'signs in as Cy': (tab) => createLogin(tab).start().password({ identity: 'cy', password: 'x' }),
  'asks for a session': (tab) => tab.getSession({ fresh: true }),
  'has a new password': (tab) => createAccount(tab).setPassword('new', { proof: passwordProof('x') }),
};
const names = Object.keys(actions);
const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const));

/** Three tabs of a browser in which Ada is signed in. The first one is there already. */
async function openTabs(kind: 'storage' | 'backend', schedule: Schedule) {
  stubChannels(schedule);
  const clocks = stopClocks();
  const service = createService(schedule);
  const browser = { cookie: 'ada 0' };
  const values = new Map<string, string>();
  let options: PosternOptions;
  if (kind === 'storage') {
    values.set('postern.login', JSON.stringify({ token: 'ada 0', user_id: 'ada', device_id: 'd' }));
    values.set('postern.device', 'd');
    options = { url: 'https://auth.example.com', fetch: service.fetch, storage: createStorage(schedule, values) };
  } else {
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => values.set(key, value),
      removeItem: (key: string) => values.delete(key),
    });
    const fetch = service.backendOf(browser);
    options = { url: 'https://app.example.com/auth', fetch, storage: 'backend' };
  }
  const open = () =>
    createPostern(kind === 'storage' ? { ...options, storage: createStorage(schedule, values) } : options);
  const tabs = [open(), open(), open()] as const;
  const end = () => {
    for (const tab of tabs) tab.close();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  };
  onTestFinished(end);
  return {
    tabs,
    service,
    end,
    /** The token that the browser has. */
    token: (): string | null =>
      kind === 'storage' ? (JSON.parse(values.get('postern.login') ?? 'null')?.token ?? null) : browser.cookie || null,
    /** Lets everything happen, in the order of the schedule, until a second after the work has ended. */
    async run(work: Promise<unknown>): Promise<void> {
      let isSettled = false;
      void work.then(() => {
        isSettled = true;
      });
      const start = clocks.now();
      let settledAt: number | undefined;
      for (;;) {
        await settle();
        if (isSettled) settledAt ??= clocks.now();
        if (schedule.next()) continue;
        if (settledAt !== undefined && clocks.now() - settledAt >= 1000) return;
        await clocks.advance(100, 100);
        if (clocks.now() - start > 60_000) throw new Error('The work never ends.');
      }
    },
  };
}
type Tabs = Awaited<ReturnType<typeof openTabs>>;

/** Runs two actions in two tabs while a third one loads, in an order of each seed. */
async function tryOrders(
  kind: 'storage' | 'backend',
  pair: readonly string[],
  check: (browser: Tabs, seed: string) => void,
): Promise<void> {
  for (let seed = 0; seed < seeds; seed += 1) {
    const browser = await openTabs(kind, createSchedule(seed));
    const [first, second, third] = browser.tabs;
    await browser.run(first.getSession());
    const running = [first, second].map((tab, index) => actions[pair[index] ?? '']?.(tab).catch(() => undefined));
    await browser.run(Promise.all([...running, third.ready()]));
    const owner = browser.token()?.split(' ')[0] ?? null;
    const users = browser.tabs.map(({ current }) => ('user_id' in current ? current.user_id : null));
    expect(users, `seed ${seed}`).toEqual([owner, owner, owner]);
    check(browser, `seed ${seed}`);
    browser.end();
  }
}

test.each(pairs)('tabs agree within a second if one %s and another one %s, whatever the order', async (...pair) => {
  await tryOrders('storage', pair, ({ token, service }, seed) => {
    // What the browser has is valid.
    const kept = token();
    if (kept !== null) expect([...service.live], seed).toContain(kept);
  });
});

const withoutLogins = pairs.filter((pair) => !pair.some((name) => name.startsWith('signs in')));
describe.each(['storage', 'backend'] as const)('with the token in: %s', (kind) => {
  test.each(withoutLogins)('if one tab %s and another one %s, a logout ends every token', async (...pair) => {
    await tryOrders(kind, pair, ({ token, service }, seed) => {
      const kept = token();
      expect(kept === null, seed).toBe(pair.includes('signs out'));
      expect([...service.live], seed).toEqual(kept === null ? [] : [kept]);
    });
  });

  test('a logout in the tab that has a new password on its way ends the new token, too', async () => {
    for (let seed = 0; seed < seeds; seed += 1) {
      const browser = await openTabs(kind, createSchedule(seed));
      const [first, second] = browser.tabs;
      await browser.run(first.getSession());
      const changing = actions['has a new password']?.(first).catch(() => undefined);
      await browser.run(Promise.all([changing, first.logOut(), second.ready()]));
      expect([browser.token(), ...browser.service.live], `seed ${seed}`).toEqual([null]);
      expect(first.current.status).toBe('signed_out');
      browser.end();
    }
  });
});

test('a new password of a former user does not replace the login of the next one', async () => {
  for (let seed = 0; seed < seeds; seed += 1) {
    const browser = await openTabs('storage', createSchedule(seed));
    const [tab] = browser.tabs;
    await browser.run(tab.getSession());
    const changing = actions['has a new password']?.(tab).catch(() => undefined);
    const next = tab.logOut().then(() => actions['signs in as Bob']?.(tab));
    const early = actions['signs in as Bob']?.(tab);
    await browser.run(Promise.all([changing, next, early]));
    expect(browser.token(), `seed ${seed}`).toMatch(/^bob /);
    expect(tab.current).toMatchObject({ status: 'signed_in', user_id: 'bob' });
    expect(
      [...browser.service.live].filter((token) => token.startsWith('ada')),
      `seed ${seed}`,
    ).toEqual([]);
    browser.end();
  }
});
