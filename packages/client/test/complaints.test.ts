// What users of other clients complain about. Each test is named after a complaint.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { eventually } from '../../../test/support/eventually.js';
import { createUser, password } from '../../../test/support/users.js';
import {
  createDevices,
  createInbox,
  createInboxView,
  createLogin,
  isPosternError,
  isProblem,
  memoryStorage,
} from '../src/index.js';
import { clientOf, createNetwork, lost, problem, signedIn } from './support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

test('"the lock deadlocks and all tabs freeze": a tab that hangs delays neither other tabs nor callers that give up', async () => {
  const storage = memoryStorage();
  const { postern } = await signedIn(app, { storage });
  const network = createNetwork();
  let release = () => {};
  const hanging = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  network.answer = (request) => (request === 'POST /v1/sessions' ? hanging : undefined);
  const frozen = clientOf(app, { storage, fetch: network.fetch });
  const waiting = frozen.getSession();
  const impatient = new AbortController();
  const abandoned = frozen.getSession({ signal: impatient.signal });
  await eventually('the request that hangs', async () => network.sent[0]);
  expect(await clientOf(app, { storage }).getSession()).not.toBeNull();
  impatient.abort(new Error('given up'));
  await expect(abandoned).rejects.toThrow('given up');
  release();
  expect(await waiting).not.toBeNull();
  // Both callers share two requests: one gets the nonce for a proof, and one has the proof.
  expect(network.count('POST /v1/sessions')).toBe(2);
  for (const client of [postern, frozen]) client.close();
});

test('"the session is null while another tab refreshes": tabs that renew at once all get a session', async () => {
  const storage = memoryStorage();
  const { postern } = await signedIn(app, { storage });
  const tabs = Array.from({ length: 10 }, () => clientOf(app, { storage }));
  const sessions = await Promise.all([postern, ...tabs].map((tab) => tab.getSession({ fresh: true })));
  expect(sessions.filter((session) => session === null)).toEqual([]);
  for (const tab of [postern, ...tabs]) tab.close();
});

test('"every focus refetches everything": a hundred returns to the page send nothing', async () => {
  const network = createNetwork();
  const wakers = new Set<() => void>();
  const { postern, user } = await signedIn(app, {
    fetch: network.fetch,
    onResume(wake) {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
  });
  const view = createInboxView(postern, createInbox(postern));
  const end = view.subscribe(() => undefined);
  await eventually('the list', async () => (view.current.loading ? undefined : true));
  const before = [...network.sent];
  for (let count = 0; count < 100; count += 1) for (const wake of [...wakers]) wake();
  // A request that a return to the page caused would be sent before this one arrives.
  const body = { user_id: user.id, notification_type: 'payment', description: 'later' };
  await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body, headers: { 'idempotency-key': 'f' } });
  await eventually('the event', async () => view.current.items[0]);
  expect(network.sent.slice(before.length).filter((request) => !request.endsWith('/marker'))).toEqual([]);
  end();
  postern.close();
});

test.each<[string, () => Response]>([
  ['no network', lost],
  ['503', () => problem(503, 'overloaded', { 'retry-after': '1' })],
  ['429', () => problem(429, 'too_many_requests', { 'retry-after': '60' })],
  ['a page of a captive portal', () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } })],
  ['a 401 of a proxy', () => new Response('Who are you?', { status: 401 })],
  ['a JSON answer of somebody else', () => Response.json({ error: 'Sign in to this network' })],
  ['a JSON answer without an object', () => Response.json(null)],
  [
    'a page that claims to be JSON',
    () => new Response('<h1>Hi</h1>', { headers: { 'content-type': 'application/json' } }),
  ],
  ['an empty answer', () => new Response(null, { status: 204 })],
  ['an answer that only a backend gives', () => Response.json({ token: null })],
])('"a lost network signs me out": %s keeps the login', async (_name, answer) => {
  const network = createNetwork();
  const { postern, user } = await signedIn(app, { fetch: network.fetch });
  network.answer = (request) => (request === 'POST /v1/sessions' ? answer() : undefined);
  const failed = await Promise.allSettled(Array.from({ length: 20 }, () => postern.getSession({ fresh: true })));
  expect(failed.map((result) => result.status === 'rejected' && isPosternError(result.reason))).toEqual(
    Array.from({ length: 20 }, () => true),
  );
  expect(postern.current).toMatchObject({ status: 'signed_in', user_id: user.id });
  network.answer = undefined;
  expect(await postern.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
  postern.close();
});

test('"it breaks behind a captive portal": its JSON answers neither sign in nor stop the inbox', async () => {
  const network = createNetwork();
  const user = await createUser(app);
  const postern = clientOf(app, { fetch: network.fetch });
  const portal = () => Response.json({ error: 'Sign in to this network' });
  network.answer = portal;
  const login = createLogin(postern);
  const input = { identity: user.username ?? '', password };
  expect(await login.start().password(input)).toMatchObject({ step: 'start', issue: { kind: 'failed' } });
  network.answer = undefined;
  expect(await login.start().password(input)).toMatchObject({ step: 'done', user_id: user.id });
  network.answer = (request) => (/page|marker|changes|stream/.test(request) ? portal() : undefined);
  const view = createInboxView(postern, createInbox(postern, { stream: 'tab' }));
  const end = view.subscribe(() => undefined);
  await eventually('the error', async () => view.current.error ?? undefined);
  expect(view.current).toMatchObject({ items: [], unread: { unread_count: 0 }, error: { kind: 'foreign_answer' } });
  const body = { user_id: user.id, notification_type: 'payment', description: 'later' };
  await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
  network.answer = undefined;
  await eventually('the list', async () => (view.current.error === null && view.current.items[0]) || undefined);
  expect(view.current.unread.unread_count).toBe(1);
  end();
  postern.close();
});

test('"it crashes in an iframe": a browser that refuses channels to other tabs does not stop the client', async () => {
  class Refused {
    constructor() {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    }
  }
  vi.stubGlobal('BroadcastChannel', Refused);
  try {
    const { postern, user } = await signedIn(app);
    expect(await postern.getSession()).toMatchObject({ user_id: user.id });
    expect(await postern.logOut()).toEqual({ revoked: true });
    postern.close();
  } finally {
    vi.unstubAllGlobals();
  }
});

test('"an exception in my callback breaks the login": a listener that throws stops neither the client nor other listeners', async () => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  try {
    const storage = memoryStorage();
    const [postern, otherTab] = [clientOf(app, { storage }), clientOf(app, { storage })];
    const user = await createUser(app);
    const states: string[] = [];
    await Promise.all([postern.ready(), otherTab.ready()]);
    const fail = ({ status }: { readonly status: string }) => {
      throw new Error(`a bug of the app at ${status}`);
    };
    for (const client of [postern, otherTab]) client.onChange(fail);
    postern.onChange(({ status }) => states.push(status));
    const done = await createLogin(postern)
      .start()
      .password({ identity: user.username ?? '', password });
    expect(done.step).toBe('done');
    await eventually('the other tab', async () => (otherTab.current.status === 'signed_in' ? true : undefined));
    expect(await postern.logOut()).toEqual({ revoked: true });
    await eventually('the other tab', async () => (otherTab.current.status === 'signed_out' ? true : undefined));
    expect(states).toEqual(['signed_in', 'signed_out']);
    // The app finds out, as from a listener of the browser.
    await eventually('the errors', async () => (thrown.length === 4 ? true : undefined));
    for (const client of [postern, otherTab]) client.close();
  } finally {
    process.removeListener('unhandledRejection', note);
    for (const listener of others) process.on('unhandledRejection', listener);
  }
});

test('"errors cannot be told apart": errors of another copy of the package are recognised', async () => {
  vi.resetModules();
  const copy = await import('../src/errors.js');
  expect(copy.isProblem).not.toBe(isProblem);
  const error = await copy.problemFrom(problem(409, 'identity_taken'));
  expect([isPosternError(error), isProblem(error, 'identity_taken'), isProblem(error, 'not_found')]).toEqual([
    ...[true, true, false],
  ]);
});

/** Runs in a process of its own, without the globals of the tests. */
const rendering = (url: string) => `
const snapshotOf = () => {
  const owners = { globalThis, fetch: fetch.prototype, Headers: Headers.prototype, Request: Request.prototype,
    Response: Response.prototype, Promise: Promise.prototype, EventTarget: EventTarget.prototype, Array: Array.prototype, Object: Object.prototype };
  return Object.entries(owners).flatMap(([name, owner]) => owner === undefined ? [] : Reflect.ownKeys(owner).map((key) => {
    const { value, get, set } = Reflect.getOwnPropertyDescriptor(owner, key);
    return [name + '.' + String(key), get ?? value, set];
  }));
};
// Node.js replaces some globals when they are first read.
for (const key of Reflect.ownKeys(globalThis)) try { void globalThis[key]; } catch {}
const before = snapshotOf();
const { createInbox, createInboxView, createLogin, createPostern, memoryStorage } = await import('./client.mjs');
const postern = createPostern({ url: '${url}', storage: memoryStorage() });
const page = { data: [], page: { number: 1, limit: 20, total: 0, total_is_exact: true, next_cursor: null } };
const marker = { last_read_sequence: 0, unread_count: 3, unread_count_capped: false, updated_at: null };
const session = { id: 'a', user_id: 'b', device_id: 'c', created_at: '', expires_at: '', updated_at: '' };
const view = createInboxView(postern, createInbox(postern), { snapshot: { session, inbox: { page, marker } } });
const shown = [createLogin(postern).current.step, postern.current.status, view.current.unread.unread_count];
const rendered = process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|Message/.test(name));
const answer = await createLogin(postern).start().password({ identity: 'nobody', password: 'wrong' });
const after = new Map(snapshotOf().map(([name, ...values]) => [name, values]));
const changed = before.filter(([name, ...values]) => values.some((value, index) => !Object.is(value, after.get(name)?.[index])));
console.log(JSON.stringify({ shown, rendered, issue: answer.issue.kind, changed: changed.map(([name]) => name), added: after.size - before.length }));
postern.close();
`;

test('"it patches globals" and "it breaks server rendering": a server renders a snapshot without requests, timers and changed globals', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-rendering-'));
  const entryPoints = [fileURLToPath(new URL('../src/index.ts', import.meta.url))];
  await build({ entryPoints, bundle: true, format: 'esm', outfile: join(folder, 'client.mjs') });
  await writeFile(join(folder, 'render.mjs'), rendering(app.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', join(folder, 'render.mjs')]);
  await rm(folder, { recursive: true });
  expect(JSON.parse(stdout)).toEqual({
    shown: ['start', 'starting', 3],
    rendered: [],
    issue: 'wrong',
    ...{ changed: [], added: 0 },
  });
});

test('"an update of the server breaks the app": members and events that a newer service adds are ignored', async () => {
  const network = createNetwork();
  const encoder = new TextEncoder();
  const newer: typeof network.fetch = async (input, init) => {
    const answer = await network.fetch(input, init);
    const { status, headers } = answer;
    if (/\bjson\b/.test(headers.get('content-type') ?? '')) {
      const read = (await answer.json()) as object;
      const added = Array.isArray(read) ? read : { ...read, from_the_future: { is: ['unknown'] } };
      return new Response(JSON.stringify(added), { status, headers });
    }
    if (!`${input}`.includes('/stream') || answer.body === null) return answer;
    let isFirst = true;
    const body = answer.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, out) {
          if (!isFirst) out.enqueue(encoder.encode('event: hologram\ncolour: blue\ndata: <not JSON>\n\n'));
          isFirst = false;
          out.enqueue(chunk);
        },
      }),
    );
    return new Response(body, { status, headers });
  };
  const { postern, user } = await signedIn(app, { fetch: newer });
  const view = createInboxView(postern, createInbox(postern));
  const end = view.subscribe(() => undefined);
  await eventually('the list', async () => (view.current.loading ? undefined : true));
  for (const description of ['one', 'two']) {
    const body = { user_id: user.id, notification_type: 'payment', description };
    const headers = { 'idempotency-key': description };
    await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body, headers });
  }
  await eventually('both', async () => (view.current.items.length === 2 ? true : undefined));
  expect(network.count('GET /v1/notifications/stream')).toBe(1);
  network.answer = (request) => (request.startsWith('GET /v1/devices') ? problem(418, 'from_the_future') : undefined);
  const error = await createDevices(postern)
    .get('current')
    .catch((reason: unknown) => reason);
  expect(isProblem(error) && [error.code, error.status]).toEqual(['from_the_future', 418]);
  end();
  postern.close();
});
