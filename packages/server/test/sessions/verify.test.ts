import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { isPosternError, isProblem } from '../../src/index.js';
import { backendOf, lost, problem, visitor } from '../support.js';

const verifying = 'POST /v1/sessions/verify';
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('the session of a request is found in the headers of any framework', async () => {
  const { server } = backendOf(app);
  const { user, token, headers } = await visitor(app);
  const requests = [
    token,
    { headers },
    { headers: new Headers(headers) },
    new Request('http://app/', { headers }),
    { raw: new Request('http://app/', { headers }) },
    { headers: { authorization: `bearer  ${token} ` } },
  ];
  for (const request of requests) expect((await server.verify(request))?.user_id).toBe(user.id);
});

test('a text that is not a session token gives no session, and is not sent to Postern', async () => {
  const { server, network } = backendOf(app);
  const { token } = await visitor(app);
  const headersWithoutToken = [
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: `Basic ${btoa(token)}` },
    { authorization: `Bearer ${app.adminKey}` },
    { authorization: 'Bearer psa_0123456789' },
    { authorization: `Bearer ${token}, Bearer ${token}` },
    { authorization: [`Bearer ${token}`, `Bearer ${token}`] },
    { authorization: `Bearer ${token}\u00e9` },
    { Authorization: `Bearer ${token}` },
  ];
  for (const headers of headersWithoutToken)
    expect(await server.verify({ headers }), JSON.stringify(headers)).toBeNull();
  expect(network.sent).toEqual([]);
});

test('an unknown token gives no session', async () => {
  const { server } = backendOf(app);
  expect(await server.verify('pss_unknown')).toBeNull();
});

test('a thousand checks of one token at the same time are one request', async () => {
  const { server, network } = backendOf(app);
  const { user, token, headers } = await visitor(app);
  const found = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => server.verify(index % 2 === 0 ? token : { headers })),
  );
  expect(new Set(found.map((session) => session?.user_id))).toEqual(new Set([user.id]));
  expect(network.sent).toEqual([verifying]);
});

test.each<[string, () => Response]>([
  ['JSON of somebody else', () => Response.json({ status: 'ok' })],
  ['JSON without an object', () => Response.json(true)],
  ['nothing', () => new Response(null, { status: 204 })],
])('an address where another service answers with %s lets nobody in', async (_name, answer) => {
  const { server, network } = backendOf(app);
  network.answer = answer;
  await expect(server.verify('pss_anything')).rejects.toMatchObject({ kind: 'foreign_answer' });
});

test('checks of different tokens are separate requests', async () => {
  const { server, network } = backendOf(app);
  const [ada, grace] = [await visitor(app), await visitor(app)];
  const found = await Promise.all([server.verify(ada.token), server.verify(grace.token)]);
  expect(found.map((session) => session?.user_id)).toEqual([ada.user.id, grace.user.id]);
  expect(network.count(verifying)).toBe(2);
});

test('nothing is cached: the next check after a logout is refused', async () => {
  const { server } = backendOf(app);
  const { postern, token } = await visitor(app);
  expect(await server.verify(token)).not.toBeNull();
  await postern.logOut();
  expect(await server.verify(token)).toBeNull();
});

test('a check that starts after a logout does not get the answer of an earlier one', async () => {
  const { server, network } = backendOf(app);
  const { postern, token } = await visitor(app);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isAnswered = false;
  network.answer = async (request, number) => {
    if (request !== verifying || number > 1) return undefined;
    const answer = await fetch(`${app.url}/v1/sessions/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    isAnswered = true;
    await held;
    return answer;
  };
  const early = server.verify(token);
  await eventually('the first check is answered', async () => (isAnswered ? true : undefined));
  await postern.logOut();
  const late = [server.verify(token), server.verify(token), server.verify(token)];
  release();
  expect(await early).not.toBeNull();
  expect(await Promise.all(late)).toEqual([null, null, null]);
  expect(network.count(verifying)).toBe(2);
});

test('with `maxAge` a result is used again; without it the next check notices the end of a session', async () => {
  const { server, network } = backendOf(app);
  const { postern, token } = await visitor(app);
  const options = { maxAge: 3_600_000 };
  const first = await server.verify(token, options);
  expect(await server.verify(token, options)).toBe(first);
  expect(network.count(verifying)).toBe(1);
  await postern.logOut();
  expect(await server.verify(token, options)).toBe(first);
  expect(await server.verify(token)).toBeNull();
  // From here on this process knows that the session has ended.
  expect(await server.verify(token, options)).toBeNull();
});

test('if Postern is unavailable, the check rejects and does not return null', async () => {
  const { server, network } = backendOf(app);
  const { token } = await visitor(app);
  network.answer = () => problem(503, 'storage_unavailable', { 'retry-after': '1' });
  await expect(server.verify(token)).rejects.toSatisfy((error) => isProblem(error, 'storage_unavailable'));
  network.answer = () => new Response('<h1>Bad gateway</h1>', { status: 502 });
  await expect(server.verify(token)).rejects.toMatchObject({ kind: 'foreign_answer', status: 502 });
  network.answer = () => new Response('<h1>Sign in</h1>', { status: 401 });
  await expect(server.verify(token)).rejects.toMatchObject({ kind: 'foreign_answer', status: 401 });
  network.answer = lost;
  await expect(server.verify(token)).rejects.toSatisfy((error) => isPosternError(error) && error.kind === 'network');
  network.answer = undefined;
  expect(await server.verify(token)).not.toBeNull();
});

test('a connection that breaks is tried once more', async () => {
  const { server, network } = backendOf(app);
  const { token } = await visitor(app);
  network.answer = (_, number) => (number === 1 ? lost() : undefined);
  expect(await server.verify(token)).not.toBeNull();
  expect(network.count(verifying)).toBe(2);
});

test('a caller that aborts does not abort the check of the others', async () => {
  const { server, network } = backendOf(app);
  const { token } = await visitor(app);
  const controller = new AbortController();
  const aborted = server.verify(token, { signal: controller.signal });
  const other = server.verify(token);
  controller.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  expect(await other).not.toBeNull();
  expect(network.count(verifying)).toBe(1);
  await expect(server.verify(token, { signal: controller.signal })).rejects.toThrow('gone');
});

test('an invalid `maxAge` is a usage error', async () => {
  await expect(backendOf(app).server.verify('pss_x', { maxAge: Number.NaN })).rejects.toMatchObject({ kind: 'usage' });
});
