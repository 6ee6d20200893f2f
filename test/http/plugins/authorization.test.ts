import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { authorizationPlugin } from '../../../src/http/plugins/authorization.js';
import type { App } from '../../../src/http/requests/route.js';
import { Problem } from '../../../src/lib/problem.js';

const verifiers = {
  verifySession: () => Promise.reject(new Problem('invalid_session_token')),
  verifyOperator: () => Promise.reject(new Problem('invalid_session_token')),
  verifyApiKey: async () => undefined,
  checkOf: () => undefined,
  meters: undefined,
  onRefused: () => undefined,
};

test('a route that does not declare its `access` (who may call it) cannot be registered', () => {
  const app: App = Fastify();
  authorizationPlugin(app, verifiers);
  const handler = async () => 'reached';
  expect(() => app.route({ method: 'GET', url: '/open', handler })).toThrow('GET /open does not say who may call it');
  app.route({ method: 'GET', url: '/public', config: { access: 'public' }, handler });
});

test('an admin route that does more than read cannot be registered without its decision about a recent proof', () => {
  const app: App = Fastify();
  authorizationPlugin(app, verifiers);
  const route = { url: '/admin', handler: async () => 'reached' };
  const config = { access: { scope: 'admin' } } as const;
  for (const method of ['POST', 'DELETE'] as const) {
    const message = `${method} /admin does not say whether it needs a recent proof`;
    expect(() => app.route({ ...route, method, config })).toThrow(message);
    app.route({ ...route, method, config: { ...config, recentProof: 'not-needed' } });
  }
  app.route({ ...route, method: 'GET', config });
});
