// A call whose answer has a new token for the login, while other calls and tabs use the old one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { password } from '../../../../test/support/users.js';
import {
  createAccount,
  createDevices,
  type Fetch,
  memoryStorage,
  type Postern,
  type PosternStorage,
  passwordProof,
} from '../../src/index.js';
import { clientOf, lost, problem, signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

const nextPassword = 'a completely different passphrase';
const setPassword = (postern: Postern) =>
  createAccount(postern).setPassword(nextPassword, { proof: passwordProof(password) });
const statesOf = (postern: Postern) => {
  const states: string[] = [];
  postern.subscribe(({ status }) => states.push(status));
  return states;
};

/** A `fetch` that keeps the answer to a new password back until the test releases it. */
function heldNetwork(change: (answer: Response) => Response | Promise<Response> = (answer) => answer) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = () => {};
  const isReplaced = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const send: Fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (init?.method !== 'PUT' || !`${input}`.endsWith('/password')) return answer;
    arrived();
    await released;
    return change(answer);
  };
  return { send, release, isReplaced };
}

test('while a new password is on its way, other calls and tabs wait, and nobody is signed out', async () => {
  const storage = memoryStorage();
  const { send, release, isReplaced } = heldNetwork();
  const { postern } = await signedIn(app, { storage, fetch: send });
  const [otherTab, laterTab] = [clientOf(app, { storage }), clientOf(app, { storage })];
  await otherTab.getSession();
  const states = [postern, otherTab].map(statesOf);
  const changing = setPassword(postern);
  await isReplaced;
  // The old token has ended at the service, and nobody has the new one yet.
  const settled: string[] = [];
  const calls = [
    postern.getSession({ fresh: true }),
    otherTab.getSession({ fresh: true }),
    createDevices(otherTab).list().page(),
    laterTab.getSession(),
  ].map((call, index) => call.finally(() => settled.push(`${index}`)));
  // Longer than any of the calls takes.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(settled).toEqual([]);
  release();
  await changing;
  const [own, other, , later] = await Promise.all(calls);
  for (const session of [own, other, later]) expect(session).toMatchObject({ user_id: expect.any(String) });
  expect(states).toEqual([['signed_in'], ['signed_in']]);
  expect(await storage.get('postern.replacing')).toBeNull();
  for (const client of [postern, otherTab, laterTab]) client.close();
});

test('a request for a session that started before is not used, and its 401 signs nobody out', async () => {
  const { send, release, isReplaced } = heldNetwork();
  let holdsSession = false;
  let freeSession = () => {};
  const { postern } = await signedIn(app, {
    fetch: async (input, init) => {
      if (holdsSession && `${input}`.endsWith('/v1/sessions')) {
        holdsSession = false;
        await new Promise<void>((resolve) => {
          freeSession = resolve;
        });
      }
      return send(input, init);
    },
  });
  await postern.getSession();
  const states = statesOf(postern);
  holdsSession = true;
  const early = postern.getSession({ fresh: true });
  await eventually('the request', async () => (holdsSession ? undefined : true));
  const changing = setPassword(postern);
  freeSession();
  await isReplaced;
  release();
  await changing;
  expect(await early).not.toBeNull();
  expect(await postern.getSession({ fresh: true })).not.toBeNull();
  expect(states).toEqual(['signed_in']);
  postern.close();
});

test.each<[string, (answer: Response) => Response]>([
  ['is refused', () => problem(422, 'validation_failed')],
  ['is lost', () => lost()],
  ['a captive portal answers', () => Response.json({ error: 'Sign in to this network' })],
])('after a new password that %s, the others go on', async (_name, change) => {
  const { send, release } = heldNetwork(change);
  release();
  const { postern } = await signedIn(app, {
    fetch: (input, init) => (init?.method === 'PUT' ? Promise.resolve(change(new Response())) : send(input, init)),
  });
  await expect(setPassword(postern)).rejects.toThrow();
  expect(await postern.getSession({ fresh: true })).not.toBeNull();
  postern.close();
});

test('a tab that was closed meanwhile stops the others for the time limit of a request only', async () => {
  const storage: PosternStorage = memoryStorage();
  const { postern, user } = await signedIn(app, { storage });
  postern.close();
  const end = Date.now() + 300;
  await storage.set('postern.replacing', `${end}`);
  const next = clientOf(app, { storage });
  expect(await next.getSession()).toMatchObject({ user_id: user.id });
  // Timers may fire a little early.
  expect(Date.now()).toBeGreaterThan(end - 50);
  // A clock that was set back leaves a time far in the future.
  await storage.set('postern.replacing', `${Date.now() + 86_400_000}`);
  expect(await next.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
  next.close();
});
