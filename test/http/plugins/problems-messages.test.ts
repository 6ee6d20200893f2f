import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, type ProblemAnswer, startTestApp, type TestApp } from '../../support/app.js';
import { pathsOfEnums } from '../../support/enums.js';
import { withoutReferences } from '../../support/openapi.js';
import { createUser, signIn } from '../../support/users.js';

/** The messages for a wrong choice, time or header. In both languages they say which value is right. */

let postern: TestApp;
let session: string;
beforeAll(async () => {
  postern = await startTestApp({ REGISTRATION: 'on' });
  session = (await signIn(postern, await createUser(postern))).session.token;
});
afterAll(() => postern.close());

const languages = ['en', 'es'] as const;
type Detailed = ProblemAnswer & { readonly detail: string };
type Language = (typeof languages)[number];

function ask(method: string, path: string, language: Language, sent: { body?: unknown; headers?: object } = {}) {
  const bearer = path.startsWith('/admin/') ? postern.adminKey : session;
  const headers = { 'Accept-Language': language, ...sent.headers };
  return postern.api<Detailed>(method, path, { bearer, headers, ...(sent.body !== undefined && { body: sent.body }) });
}

const messageOf = ({ body }: ApiAnswer<Detailed>, field: string) =>
  body.errors.find((one) => one.field === field)?.message;

async function messagesOf(method: string, path: string, field: string, body?: unknown): Promise<string[]> {
  const messages = languages.map(async (language) => {
    const answer = await ask(method, path, language, body === undefined ? {} : { body });
    expect(answer.status, answer.text).toBe(422);
    const message = messageOf(answer, field);
    expect(message, answer.text).toBeDefined();
    expect(answer.body.detail).toContain(message);
    return message ?? '';
  });
  return Promise.all(messages);
}

test('the message for a wrong value lists the allowed values, for every enum in a body of the OpenAPI document', async () => {
  const found = pathsOfEnums(withoutReferences(JSON.parse(JSON.stringify(postern.app.swagger()))));
  expect(found.length).toBeGreaterThan(10);
  for (const { method, path, field, choices } of found) {
    for (const wrong of ['no such choice', '', 5]) {
      const body = field
        .split('.')
        .reduceRight<unknown>((value, name) => (name === '0' ? [value] : { [name]: value }), wrong);
      for (const message of await messagesOf(method, path, field, body)) {
        for (const choice of choices) expect(message, `${method} ${path}`).toContain(String(choice));
      }
    }
  }
});

describe('a wrong word in a filter', () => {
  test.each([
    ['/admin/v1/users', 'status:locked', ['active', 'deactivated']],
    ['/admin/v1/users', 'status:in:[active;locked]', ['active', 'deactivated']],
    ['/admin/v1/users', 'role:admin', ['user', 'support', 'operator']],
    ['/admin/v1/outbox', 'state:lost', ['queued', 'sent', 'failed', 'expired']],
    ['/admin/v1/outbox', 'channel:pigeon', ['sms', 'email']],
    ['/v1/notifications', 'notification_type:paymant', ['payment', 'pool', 'request']],
  ])('at %s, %s, gets a message with the possible words', async (path, filter, words) => {
    for (const message of await messagesOf('GET', `${path}?filter=${filter}`, 'filter')) {
      for (const word of words) expect(message).toMatch(new RegExp(`\\b${word}\\b`));
    }
  });

  test('gets a message that lists the fields or the operators', async () => {
    for (const message of await messagesOf('GET', '/admin/v1/users?filter=lokced:true', 'filter')) {
      expect(message).toMatch(/: id, username, email, /);
    }
    for (const message of await messagesOf('GET', '/admin/v1/users?filter=created_at:after:2020-01-01', 'filter')) {
      expect(message).toMatch(/\beq, neq, gt, gte, lt, lte, in\b/);
    }
  });
});

test('the message for an unknown sort field lists the fields', async () => {
  for (const message of await messagesOf('GET', '/v1/notifications?sort=updated', 'sort')) {
    expect(message).toContain('created_at, updated_at');
  }
});

test('the message for an unknown authenticator lists the authenticators', async () => {
  const body = { identity: { type: 'username', value: 'ada' }, authenticator: 'pasword', secret: 'x', device: {} };
  for (const message of await messagesOf('POST', '/v1/tokens', 'authenticator', body)) {
    expect(message).toMatch(/: password, sms, /);
  }
});

test('a message never has an empty list: if nothing is configured, it says so', async () => {
  const user = await createUser(postern);
  const body = { provider: 'acme', subject: '1' };
  expect(await messagesOf('PUT', `/admin/v1/users/${user.id}/external-identities`, 'provider', body)).toEqual([
    'No valid value of this field is configured in this installation.',
    'En esta instalación no hay configurado ningún valor válido para este campo.',
  ]);
});

describe('a refused Idempotency-Key', () => {
  test.each(['x'.repeat(256), '', 'a\tb', 'caf\xe9'])('%j is reported with the header as its field', async (key) => {
    for (const language of languages) {
      const answer = await ask('POST', '/admin/v1/users', language, { headers: { 'Idempotency-Key': key }, body: {} });
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toEqual([
        { field: 'Idempotency-Key', code: 'malformed_request', message: expect.stringMatching(/1 (?:to|a) 255/) },
      ]);
      expect(answer.body.detail).toContain('Idempotency-Key: ');
    }
  });
});

describe('a time', () => {
  const key = (expires_at: string) => ({ name: 'x', scopes: ['admin'], expires_at });

  test.each(['2001-01-01T00:00:00Z', '2001-01-01 00:00:00', '2001-01-01', '2001-01-01T00:00:00'])(
    '%s gets the message that it must be in the future',
    async (time) => {
      const [en, es] = await messagesOf('POST', '/admin/v1/keys', 'expires_at', key(time));
      expect([en, es]).toEqual([
        'This is in the past. It must be a time in the future, such as 2030-01-31T12:00:00Z.',
        'Está en el pasado. Debe ser una hora futura, como 2030-01-31T12:00:00Z.',
      ]);
      const { id } = await createUser(postern);
      expect(await messagesOf('POST', `/admin/v1/users/${id}/lock`, 'until', { until: time })).toEqual([en, es]);
    },
  );

  test.each(['tomorrow', '', '2099-02-30T00:00:00Z', '2099-01-01', '2099-01-01T24:00:00Z', '2099-01-01T00:00Z'])(
    '%j is no time, and gets a message with the form of a time',
    async (time) => {
      for (const message of await messagesOf('POST', '/admin/v1/keys', 'expires_at', key(time))) {
        expect(message).toContain('2030-01-31T12:00:00Z');
        expect(message).not.toMatch(/past|pasado/);
      }
    },
  );

  test('that is invalid in `since` or a filter gets a message with the form of a time', async () => {
    for (const path of ['/v1/notifications', '/admin/v1/users', '/admin/v1/events']) {
      for (const message of await messagesOf('GET', `${path}?since=2017-02-30 10:00:00`, 'since')) {
        expect(message).toMatch(/(?:exists|exista).*YYYY-MM-DD HH:MM:SS/);
      }
      for (const message of await messagesOf('GET', `${path}?filter=created_at:gt:2017-02-30`, 'filter')) {
        expect(message).toMatch(/"2017-02-30".*YYYY-MM-DD HH:MM:SS/);
      }
    }
  });

  test('of an imported user in the future gets the message that it must be in the past', async () => {
    const line = JSON.stringify({ username: 'late', created_at: '2099-01-01T00:00:00Z' });
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await ask('POST', '/admin/v1/users/import', 'en', { body: `${line}\n`, headers });
    expect(answer.text).toContain('This is in the future. It must be a time in the past.');
  });
});
