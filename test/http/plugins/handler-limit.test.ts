import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handlerLimitPlugin } from '../../../src/http/plugins/handler-limit.js';
import { problemsPlugin } from '../../../src/http/plugins/problems.js';
import type { App } from '../../../src/http/requests/route.js';

const app: App = Fastify();
const never = new Promise<never>(() => undefined);
/** A response body that starts and never ends. */
const endless = () => new Readable({ read: () => undefined });
let url: string;

beforeAll(async () => {
  problemsPlugin(app);
  handlerLimitPlugin(app, 50);
  app.get('/soon', async () => ({ answer: 42 }));
  app.get('/refused', async () => Promise.reject(new Error('of the handler')));
  app.get('/never', () => never);
  app.get('/begun', async (_request, reply) => {
    const body = endless();
    body.push('begun');
    return reply.send(body);
  });
  app.get('/without-timer', { config: { hasNoHandlerTimer: true } }, () => fetch(`${url}/never`).then(() => 'later'));
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

test('a handler that answers or fails in time is not affected', async () => {
  expect(await (await fetch(`${url}/soon`)).json()).toEqual({ answer: 42 });
  const refused = await fetch(`${url}/refused`);
  expect(refused.status).toBe(500);
  // Nothing of the error, which may contain values or SQL, is in the answer.
  expect(await refused.text()).not.toMatch(/of the handler|stack|\.ts:|\.js:/);
});

test('a handler that does not answer in time gets 503 with Retry-After', async () => {
  const answer = await fetch(`${url}/never`);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await answer.json()).toMatchObject({ errors: [{ code: 'overloaded' }] });
});

test('a response that has started and does not end is cut off', async () => {
  const answer = await fetch(`${url}/begun`);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
});

test('a route whose work has its own limits can take longer', async () => {
  expect(await (await fetch(`${url}/without-timer`)).text()).toBe('later');
});
