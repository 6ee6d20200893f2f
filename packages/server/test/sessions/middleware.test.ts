import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { testSql } from '../../../../test/support/sql.js';
import { password } from '../../../../test/support/users.js';
import {
  expressSession,
  fastifySession,
  findSession,
  honoSession,
  refusalOf,
  type Session,
  type SessionMiddlewareOptions,
  sessionOf,
  withSession,
} from '../../src/index.js';
import { type Backend, backendOf, lost, problem, signedIn, visitor } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

type Send = (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Response>;

async function listen(server: Server): Promise<Send> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  return (path, headers = {}, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { headers, method });
}

/** The same app in each framework: `/me` answers with the user, or with null. */
const frameworks: Record<string, (backend: Backend, options?: SessionMiddlewareOptions) => Promise<Send>> = {
  async Express({ server }, options) {
    const web = express();
    web.use(expressSession(server, options));
    web.get('/me', (request, response) => {
      response.json(findSession(request)?.user_id ?? null);
    });
    return listen(createServer(web));
  },
  async Fastify({ server }, options) {
    const web = fastify();
    web.addHook('onRequest', fastifySession(server, options));
    web.get('/me', async (request, reply) => reply.send(JSON.stringify(findSession(request)?.user_id ?? null)));
    await web.ready();
    await web.listen({ port: 0, host: '127.0.0.1' });
    closers.push(() => web.close());
    const { port } = web.server.address() as AddressInfo;
    return (path, headers = {}, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { headers, method });
  },
  async Hono({ server }, options) {
    const web = new Hono();
    web.use(honoSession(server, options));
    web.get('/me', (context) => context.json(findSession(context)?.user_id ?? null));
    return async (path, headers = {}, method = 'GET') => web.request(path, { headers, method });
  },
};

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  test('refuses a support login that only reads all methods except GET and HEAD', async () => {
    const backend = backendOf(app);
    const { server } = backend;
    const { token } = await visitor(app);
    const verifyAs = (act: Session['act']): Backend => ({
      ...backend,
      server: {
        ...server,
        verify: (async () => {
          const session = await server.verify(token);
          return session && { ...session, ...(act && { act }) };
        }) as Backend['server']['verify'],
      },
    });
    const statuses = async (act: Session['act']) => {
      const send = await start(verifyAs(act));
      return Promise.all(
        ['GET', 'HEAD', 'POST', 'DELETE'].map(async (method) => (await send('/me', {}, method)).status),
      );
    };
    const found = [200, 200, 404, 404];
    expect(await statuses({ sub: 'o', write: false })).toEqual([200, 200, 403, 403]);
    expect(await statuses({ sub: 'o', write: true })).toEqual(found);
    expect(await statuses(undefined)).toEqual(found);
  });

  test('the route runs with the session of the request', async () => {
    const { user, headers } = await visitor(app);
    const send = await start(backendOf(app));
    const answer = await send('/me', headers);
    expect([answer.status, await answer.json()]).toEqual([200, user.id]);
  });

  test('a request without a session gets 401 as a problem, and the route does not run', async () => {
    const send = await start(backendOf(app));
    for (const headers of [{}, { authorization: 'Bearer pss_unknown' }]) {
      const answer = await send('/me', headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(await answer.json()).toMatchObject({ type: 'urn:postern:problem:invalid_session_token', status: 401 });
    }
  });

  test('if Postern answers 503 or the connection is lost, the answer is 503 and never 401', async () => {
    const backend = backendOf(app);
    const send = await start(backend);
    const { headers } = await visitor(app);
    for (const failure of [() => problem(503, 'overloaded'), () => new Response('no', { status: 502 }), lost]) {
      backend.network.answer = failure;
      const answer = await send('/me', headers);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(await answer.json()).toMatchObject({ type: 'urn:postern:problem:storage_unavailable', status: 503 });
    }
  });

  test('with `within`, an old login gets 401 until the user proves it again, and the route does not run', async () => {
    const send = await start(backendOf(app), { within: '10m' });
    const { user, headers } = await visitor(app);
    expect((await send('/me', headers)).status).toBe(200);
    await app.database.query(
      testSql("update authentications set approved_at = approved_at - interval '11 minutes' where user_id = $1", [
        user.id,
      ]),
    );
    const refused = await send('/me', headers);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_user_authentication"');
    expect(await refused.json()).toMatchObject({
      type: 'urn:postern:problem:insufficient_user_authentication',
      max_age: 600,
    });
    const { body } = await app.api<{ token: string }>('PUT', '/v1/account/session-proof', {
      bearer: headers.authorization.slice(7),
      body: { proof: { type: 'password', secret: password } },
    });
    expect((await send('/me', { authorization: `Bearer ${body.token}` })).status).toBe(200);
  });

  test('with `optional`, requests without a session reach the route', async () => {
    const backend = backendOf(app);
    const send = await start(backend, { optional: true });
    const { user, headers } = await visitor(app);
    expect(await (await send('/me')).json()).toBeNull();
    expect(await (await send('/me', headers)).json()).toBe(user.id);
    backend.network.answer = lost;
    expect((await send('/me', headers)).status).toBe(503);
  });
});

test('a fetch handler gets the session and its other arguments', async () => {
  const { server } = backendOf(app);
  const { user, headers } = await visitor(app);
  const handler = withSession(server, (_, session, { name }: { name: string }) =>
    Response.json([session.user_id, name]),
  );
  const answer = await handler(new Request('http://app/', { headers }), { name: 'x' });
  expect(await answer.json()).toEqual([user.id, 'x']);
  expect((await handler(new Request('http://app/'), { name: 'x' })).status).toBe(401);
});

test('`refusalOf` gives the answers of the middlewares to a route that calls `verify` itself', async () => {
  const backend = backendOf(app);
  const { user, headers } = await visitor(app);
  const route = async (request: Request): Promise<Response> => {
    try {
      const session = await backend.server.verify(request);
      if (session !== null) return Response.json(session.user_id);
      throw session;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      return new Response(refusal.body, refusal);
    }
  };
  expect(await (await route(new Request('http://app/', { headers }))).json()).toBe(user.id);
  const guarded = withSession(backend.server, () => new Response());
  const same = async (request: Request) => {
    const [own, theirs] = [await route(request.clone()), await guarded(request)];
    expect([own.status, [...own.headers], await own.text()]).toEqual([
      theirs.status,
      [...theirs.headers],
      await theirs.text(),
    ]);
    return own.status;
  };
  expect(await same(new Request('http://app/'))).toBe(401);
  backend.network.answer = lost;
  expect(await same(new Request('http://app/', { headers }))).toBe(503);
  expect([refusalOf(new RangeError('a bug')), refusalOf(undefined)]).toEqual([undefined, undefined]);
});

test('a bug in a check is not hidden behind a 503', async () => {
  const bug = new RangeError('a bug');
  const broken = { verify: () => Promise.reject(bug) };
  const passed = await new Promise((resolve) => {
    const response = { statusCode: 200, setHeader: () => undefined, end: () => resolve('answered') };
    expressSession(broken)({ headers: {} }, response, resolve);
  });
  expect(passed).toBe(bug);
  await expect(withSession(broken, () => new Response())(new Request('http://app/'))).rejects.toBe(bug);
});

test('`sessionOf` and `findSession` fail in a route without the middleware', () => {
  expect(() => sessionOf({})).toThrow('No middleware has checked this request.');
  expect(() => findSession(new Request('http://app/'))).toThrow('No middleware');
});

test('behind an optional middleware, `sessionOf` fails if there is no session', async () => {
  const { server } = backendOf(app);
  const web = new Hono();
  web.use(honoSession(server, { optional: true }));
  web.get('/', (context) => context.json(sessionOf(context)));
  web.onError((error) => Response.json(error.message, { status: 500 }));
  const answer = await web.request('/');
  expect([answer.status, await answer.json()]).toEqual([500, expect.stringContaining('findSession')]);
});

test('`postern.fetch` of the client gets a new session after the 401 of a backend', async () => {
  const web = express();
  web.use(expressSession(backendOf(app).server));
  web.get('/me', (request, response) => {
    response.json(sessionOf(request).user_id);
  });
  const server = createServer(web);
  await listen(server);
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const { user, postern } = await signedIn(app, { trustedOrigins: [origin] });
  const session = await postern.getSession();
  const end = testSql('update sessions set expires_at = db_now() where id = $1', [session?.id]);
  await app.database.query(end);
  const answer = await postern.fetch(`${origin}/me`);
  expect([answer.status, await answer.json()]).toEqual([200, user.id]);
});
