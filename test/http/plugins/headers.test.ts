import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

it.each([
  '/v1/account',
  '/v1/login-options',
  '/openapi.json',
  '/console',
  '/console/assets/none.js',
  '/docs',
  '/docs/reference.css',
  '/docs/reference.js',
  '/images/x/y',
  '/livez',
  '/nothing',
  '/link',
  '/redirects/x',
  '/callback/x?state=y',
])('%s forbids frames, plug-ins, another base and foreign sources', async (path) => {
  const { headers } = await fetch(postern.url + path, { redirect: 'manual' });
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const policy = headers.get('content-security-policy') ?? '';
  const directives = new Map(
    policy.split(';').map((directive): [string, string] => {
      const [name = '', ...values] = directive.trim().split(/\s+/);
      return [name, values.join(' ')];
    }),
  );
  expect([directives.get('base-uri'), directives.get('frame-ancestors')]).toEqual(["'none'", "'none'"]);
  // Each body has its type, and a text its charset.
  const type = headers.get('content-type') ?? '';
  expect(type).toMatch(/^(?:application\/(?:problem\+)?json|text\/(?:html|css|javascript|plain)); charset=utf-8$/);
  expect(directives.get('object-src') ?? directives.get('default-src')).toBe("'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*|validator/);
});
