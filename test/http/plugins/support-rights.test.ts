import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSupportRight, supportRights } from '../../../src/http/plugins/support-rights.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { openStream } from '../../support/event-stream.js';
import { eventually } from '../../support/eventually.js';
import { signInWithRole } from '../../support/operators.js';
import { logInAs, verify } from '../../support/support-logins.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', PAGES: 'on', REDIRECT_URIS: 'https://app.example.com/' },
    PUBLIC_URL: 'http://localhost:8080',
  });
});
afterAll(() => postern.close());

const { admin } = createAdministration(() => postern);

interface Documented {
  readonly security?: readonly Record<string, unknown>[];
}

/** The routes of the document that take a session or an authentication token, as the table names them. */
async function documentedRoutes(): Promise<string[]> {
  const { body } = await postern.api<{ paths: Record<string, Record<string, Documented>> }>('GET', '/openapi.json');
  return Object.entries(body.paths).flatMap(([path, operations]) =>
    path.startsWith('/admin/')
      ? []
      : Object.entries(operations)
          // A route for keys takes sessions of operators too, and a support login has no scope.
          .filter(([, { security = [] }]) => !security.some((one) => 'apiKey' in one))
          .filter(([, { security }]) => security?.some((one) => 'session' in one || 'authenticationToken' in one))
          .map(([method]) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
}

async function actAs(write: boolean) {
  const operator = await signInWithRole(postern, 'operator');
  const user = await createUser(postern);
  const acting = await logInAs(postern, operator, user.id, { write });
  const codeOf = async (route: string, id: string = randomUUID()) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await postern.api<{ errors?: { code: string }[] } | null>(method, path.replace(/:\w+/g, id), {
      bearer: acting.session.token,
    });
    return answer.body?.errors?.[0]?.code;
  };
  return { operator, user, ...acting, codeOf };
}

const refusals = ['read_only_session', 'not_for_support_logins'];
/** Requests without a session, and the stream, whose answer has no end: other tests are about these. */
const others = ['POST /v1/sessions', 'DELETE /v1/tokens', 'GET /v1/notifications/stream'];
const routesWith = (...rights: string[]) =>
  Object.entries(supportRights).flatMap(([route, right]) =>
    rights.includes(right) && !others.includes(route) ? [route] : [],
  );

describe('the table of what a support login may do', () => {
  test('has the routes that take a login, and no others', async () => {
    expect(Object.keys(supportRights).sort()).toEqual((await documentedRoutes()).sort());
  });

  test('a route without a line keeps the server from starting', () => {
    expect(() => requireSupportRight('POST', '/v1/account/new')).toThrow(
      'POST /v1/account/new does not say what a support login may do',
    );
    expect(() => requireSupportRight(['HEAD', 'GET'], '/v1/account')).not.toThrow();
  });
});

describe('a support login that reads', () => {
  test('is refused every other method, and may send each GET of the table', async () => {
    const { codeOf, session } = await actAs(false);
    for (const route of routesWith('write', 'own', 'user')) {
      const isExport = route === 'GET /v1/account/export';
      expect([route, await codeOf(route)]).toEqual([route, isExport ? 'not_for_support_logins' : 'read_only_session']);
    }
    for (const route of routesWith('read'))
      expect([route, refusals.includes((await codeOf(route)) ?? '')]).toEqual([route, false]);
    expect((await verify(postern, session.token)).status).toBe(200);
  });

  test('sees the stream, which ends with it', async () => {
    const { session, login, user, operator } = await actAs(false);
    const stream = await openStream(postern.url, { bearer: session.token, path: '/v1/notifications/stream' });
    try {
      await admin('POST', '/notifications', {
        ...{ user_id: user.id, notification_type: 'payment', description: 'You were paid' },
      });
      await eventually('the notification', async () =>
        stream.events.find(({ data }) => data.includes('You were paid')),
      );
      await operator.call('DELETE', `/admin/v1/users/${user.id}/support-logins/${login.id}`);
      await eventually('the end of the stream', async () => stream.end);
    } finally {
      stream.destroy();
    }
  });

  test.each([['DELETE /v1/account/support-logins/:id'], ['DELETE /v1/tokens/:id']])(
    'ends itself with %s, and no other login',
    async (route) => {
      const { codeOf, login, session, operator } = await actAs(false);
      expect(await codeOf(route)).toBe('read_only_session');
      expect(await codeOf(route, login.id.toUpperCase())).toBeUndefined();
      expect((await verify(postern, session.token)).status).toBe(401);
      const { body } = await admin<{ actor: string }[]>('GET', `/events?filter=type:support_login.ended&limit=1`);
      expect(body[0]?.actor).toBe(`user:${operator.user.id}`);
    },
  );
});

describe('a support login that writes', () => {
  test('never changes credentials, addresses, factors and devices, and never deletes or exports', async () => {
    const { codeOf, session } = await actAs(true);
    for (const route of routesWith('user', 'own')) {
      expect([route, await codeOf(route)]).toEqual([route, 'not_for_support_logins']);
    }
    for (const route of routesWith('write'))
      expect([route, refusals.includes((await codeOf(route)) ?? '')]).toEqual([route, false]);
    for (const body of [{ username: 'mine' }, { name: 'x', proof: { type: 'password', secret: 'x' } }]) {
      const answer = await postern.api<{ errors: { code: string }[] }>('PATCH', '/v1/account', {
        ...{ bearer: session.token, body },
      });
      expect(answer.body.errors[0]?.code).toBe('not_for_support_logins');
    }
  });

  test('has no way into the administration, the console and the pages', async () => {
    const { session, token } = await actAs(true);
    expect((await postern.api('GET', '/admin/v1/users', { bearer: session.token })).status).toBe(401);
    const headers = { origin: 'http://localhost:8080', host: 'localhost:8080', 'sec-fetch-site': 'same-origin' };
    for (const path of ['/console/session', '/pages/session']) {
      const answer = await postern.api('POST', path, { headers, body: { authentication_token: token } });
      expect([path, answer.status >= 400, answer.setCookies]).toEqual([path, true, []]);
    }
  });
});
