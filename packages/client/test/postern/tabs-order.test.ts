// Tabs whose storage, messages and requests come in any order, by clocks that the test moves.
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createAccount, createLogin, createPostern, type Postern, passwordProof } from '../../src/index.js';
import { settle, stopClocks } from '../fake/clocks.js';
import { sessionOf } from '../fake/inbox-service.js';

// What a page loads later is loaded before the clocks stop.
beforeAll(() => import('../../src/login/steps.js'));

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

/** Answers as Postern does to correct requests. The name in a token is that of its user. */
function createFetch({ later }: Schedule) {
  let tokens = 0;
  const newToken = (user: string) => {
    tokens += 1;
    return `${user} ${tokens}`;
  };
  return (input: string | URL | Request, init: RequestInit = {}) =>
    later(() => {
      const authorization = new Headers(init.headers).get('authorization') ?? '';
      const user = atob(authorization.replace(/^Basic /, '').replace(/^Bearer .*$/, '')).split(' ')[0] ?? '';
      const request = `${init.method ?? 'GET'} ${new URL(`${input}`).pathname}`;
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : {};
      if (request === 'POST /v1/tokens') {
        const name = /bob|cy/.exec(JSON.stringify(body.identity))?.[0] ?? '';
        return Response.json({
          ...{ id: 'a', status: 'approved', token: newToken(name), user_id: name, device_id: 'd' },
        });
      }
      if (request === 'POST /v1/sessions') return Response.json(sessionOf(user), { status: 201 });
      if (request === 'DELETE /v1/tokens') return new Response(null, { status: 204 });
      if (request === 'PUT /v1/account/password') {
        const owner = authorization.replace(/^Bearer session of /, '');
        return Response.json({ id: owner, token: newToken(owner), authentication_id: 'a' });
      }
      throw new Error(`The test does not expect ${request}.`);
    });
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

test.each(pairs)('tabs agree within a second if one %s and another one %s, whatever the order', async (...pair) => {
  for (let seed = 0; seed < 40; seed += 1) {
    const schedule = createSchedule(seed);
    stubChannels(schedule);
    const clocks = stopClocks();
    const values = new Map([
      ['postern.login', JSON.stringify({ token: 'ada 0', user_id: 'ada', device_id: 'd' })],
      ['postern.device', 'd'],
    ]);
    const fetch = createFetch(schedule);
    const tabs = [1, 2, 3].map(() =>
      createPostern({ url: 'https://auth.example.com', fetch, storage: createStorage(schedule, values) }),
    );
    onTestFinished(() => {
      for (const tab of tabs) tab.close();
      vi.unstubAllGlobals();
    });
    // The first is there already, and the others begin to load now.
    const started = tabs[0]?.ready();
    while (tabs[0]?.current.status === 'starting') {
      await settle();
      schedule.next();
    }
    await started;
    const running = pair.map((name, index) => actions[name]?.(tabs[index] as Postern).catch(() => undefined));
    const watching = tabs[2]?.ready();
    let isSettled = false;
    void Promise.all([...running, watching]).then(() => {
      isSettled = true;
    });
    let settledAt: number | undefined;
    for (;;) {
      await settle();
      if (isSettled) settledAt ??= clocks.now();
      if (schedule.next()) continue;
      if (settledAt !== undefined && clocks.now() - settledAt >= 1000) break;
      await clocks.advance(100, 100);
      if (clocks.now() > 60_000) throw new Error(`${pair.join()} never ends with seed ${seed}`);
    }
    const stored = JSON.parse(values.get('postern.login') ?? 'null')?.user_id ?? null;
    const users = tabs.map(({ current }) => ('user_id' in current ? current.user_id : null));
    expect(users, `seed ${seed}`).toEqual([stored, stored, stored]);
    for (const tab of tabs) tab.close();
    vi.useRealTimers();
  }
});
