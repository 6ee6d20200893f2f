import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { BUILD_TIMEOUT, buildService, startTestService, type TestService } from '../support/process.js';

const plugin = (name: string) => fileURLToPath(new URL(`../support/plugins/${name}.js`, import.meta.url));
/** A part of each secret. */
const canary = 'canary4711';

const password = 'correct horse battery';

async function startService(): Promise<TestService> {
  const service = await startTestService({
    AUTHENTICATORS: ['hostile', 'two-unruly-steps'].map(plugin).join(','),
    AUTHENTICATOR_OWN: 'for plug-ins',
    LOG_LEVEL: 'info',
  });
  const body = JSON.stringify({ username: 'ada', password });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${service.adminKey}` };
  expect((await fetch(`${service.url}/admin/v1/users`, { method: 'POST', headers, body })).status).toBe(201);
  return service;
}

let postern: TestService;
beforeAll(async () => {
  await buildService();
  postern = await startService();
}, BUILD_TIMEOUT);
afterAll(() => postern.stop());

async function login({ url }: TestService, authenticator: string, secret: string): Promise<number | string> {
  const identity = { type: 'username', value: 'ada' };
  const response = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identity, authenticator, secret, device: {} }),
  });
  const { status } = (await response.json()) as { status: string };
  return response.status === 201 ? status : response.status;
}
const callHostile = (what: string) => login(postern, 'hostile', `${what}; ${canary}`);

/** Waits until the plug-in approves again: its thread is restarted if necessary. */
const untilRecovered = () =>
  eventually('the plug-in to answer', async () => ((await callHostile('right')) === 'approved' ? true : undefined));

describe('a harmful plug-in', () => {
  test.each([
    ['leaves a rejected promise unhandled', 'unawaited rejection', 'rejected'],
    ['leaves a promise rejected with text unhandled', 'unawaited text', 'rejected'],
    ['throws in a timer', 'late exception', 'rejected'],
    ['throws a proxy in a timer', 'late proxy', 'rejected'],
    ['exits the process', 'exit', 503],
    ['exits the process later', 'late exit', 503],
    ['aborts the process', 'abort', 503],
    ['uses all memory', 'all memory', 503],
    ['prints', 'printing', 'rejected'],
    ['prints to the console', 'console', 'rejected'],
    ['throws an error with throwing getters', 'getters', 503],
    ['throws a proxy', 'proxy', 503],
    ['throws a proxy of a function', 'proxy of a function', 503],
    ['throws an error with a name of its own', 'name', 503],
    ['throws an error with a code and a cause', 'code', 503],
    ['throws an error with a stack of its own', 'stack', 503],
    ['throws a message that looks like a stack', 'message as frames', 503],
    ['throws an error that is its own cause', 'cause that repeats', 503],
    ['throws null', 'null', 503],
    ['throws a symbol', 'symbol', 503],
    ['throws a text', 'text', 503],
    ['throws a value without toString', 'toString', 503],
    ['returns a thenable that throws', 'thenable that throws', 503],
    ['returns a thenable that rejects', 'thenable that rejects', 503],
    ['returns a thenable that resolves twice', 'thenable that is wrong', 'rejected'],
    ['returns 100 MB', 'huge', 'rejected'],
    ['returns a cycle', 'cyclic', 'rejected'],
    ['returns a function', 'function', 'rejected'],
    ['returns a proxy of true', 'proxy of true', 'rejected'],
    ['closes its port', 'closed port', 'rejected'],
    ['sends messages of its own', 'messages', 'rejected'],
    ['removes handlers', 'own handlers', 'rejected'],
    ['changes prototypes', 'pollution', 'rejected'],
  ])('that %s does not break the service or other plug-ins', async (_what, kind, outcome) => {
    const before = await fetch(`${postern.url}/readyz`);
    expect(before.status).toBe(200);
    const answered = await callHostile(kind);
    // A thread may end before it sends its answer.
    if (kind === 'own handlers') expect([outcome, 503]).toContain(answered);
    else expect(answered).toBe(outcome);
    expect(await login(postern, 'password', password)).toBe('approved');
    await untilRecovered();
  });

  test('that loops forever delays neither other authenticators nor itself for long', async () => {
    const endless = callHostile('endless loop');
    const answers = await Promise.all(Array.from({ length: 5 }, () => login(postern, 'password', password)));
    expect(answers).toEqual(Array(5).fill('approved'));
    expect(await endless).toBe(503);
    await untilRecovered();
  });

  test('that never answers one login causes 503 for it, and answers other logins', async () => {
    const never = callHostile('never');
    expect(await callHostile('right')).toBe('approved');
    expect(await never).toBe(503);
  });

  test('sees only the environment variables that are passed to it', async () => {
    expect(await callHostile('own environment')).toBe('approved');
  });

  test('is named in the log, which holds no part of a secret', async () => {
    expect(`${postern.stdout()}${postern.stderr()}`).not.toContain(canary);
    expect(postern.stdout()).toContain('hostile.js');
    expect(postern.stdout()).toMatch(/"authenticator":"file:[^"]+hostile\.js".*did not handle an error/);
  });

  test('does not keep the service from stopping regularly', async () => {
    const other = await startService();
    const endless = login(other, 'hostile', 'endless loop');
    expect(await login(other, 'password', password)).toBe('approved');
    expect(await other.stop('SIGTERM')).toBe(0);
    expect(await endless).toBe(503);
  });
});
