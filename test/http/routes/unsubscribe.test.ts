import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Preferences } from '../../../src/contract/preferences.js';
import { createSecretKeys } from '../../../src/lib/crypto/secret-keys.js';
import { newId } from '../../../src/lib/ids.js';
import { createUnsubscribe } from '../../../src/notifications/preferences/unsubscribe.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

const formerKey = 'a former key of at least thirty-two characters';
const currentKey = 'the current key of at least thirty-two characters';
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    ...{ PUBLIC_URL: 'https://auth.example.com/postern', MAIL_FOOTER: 'Example Ltd\\n1 Main Street' },
    ...{ SMTP_URL: 'smtp://127.0.0.1:2525?tls=none', MAIL_FROM: 'no-reply@mail.example.com' },
    ...{ SECRET_KEY: `${currentKey},${formerKey}`, LOGIN_LIMIT_PER_ADDRESS: '0' },
  });
  await app.api('PUT', '/admin/v1/categories/billing', { bearer: app.adminKey, body: {} });
});
afterAll(() => app.close());

async function newPerson() {
  const user = await createUser(app, {});
  const { session } = await signIn(app, user);
  return { id: user.id, session: session.token };
}

const category = { name: 'billing', is_critical: false };
const partsFor = (id: string) => app.services.unsubscribe.partsFor(category, { id, locale: null });
function tokenFor(id: string): string {
  const [, token = ''] = /\/u\/([\w-]+)>$/.exec(partsFor(id)?.headers['List-Unsubscribe'] ?? '') ?? [];
  return token;
}
const visit = (token: string, init: RequestInit = {}) => fetch(`${app.url}/u/${token}`, init);
const post = (token: string, init: RequestInit = {}) => visit(token, { method: 'POST', ...init });
const emailOf = async (session: string) =>
  (await app.api<Preferences>('GET', '/v1/preferences', { bearer: session })).body.categories.billing?.cells.email;
/** What a client can see of an answer, without what differs for each request. */
async function seen(answer: Response) {
  const headers = [...answer.headers].filter(([name]) => !['date', 'request-id'].includes(name));
  return { status: answer.status, headers, text: await answer.text() };
}

test('a mail has the headers of RFC 8058 and RFC 2919, and a footer in the language of the user', () => {
  const id = newId();
  const { headers, footer } = app.services.unsubscribe.partsFor(category, { id, locale: 'es-MX' }) ?? {};
  const link = `https://auth.example.com/postern/u/${tokenFor(id)}`;
  expect(headers).toEqual({
    'List-Unsubscribe': `<${link}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'List-Id': '<billing.mail.example.com>',
  });
  expect(footer?.text).toBe(`Example Ltd\n1 Main Street\n\nNo recibir más correos de este tipo:\n${link}`);
  expect(footer?.html).toContain(`Example Ltd<br>1 Main Street</p><p><a href="${link}">No recibir`);
});

test('critical mail has neither, and the labels of List-Id are never empty', () => {
  const { unsubscribe } = app.services;
  const user = { id: newId(), locale: null };
  expect(unsubscribe.partsFor({ name: 'alarm', is_critical: true }, user)).toEqual({ headers: {}, footer: null });
  const odd = unsubscribe.partsFor({ name: 'a..b.', is_critical: false }, user);
  expect(odd?.headers['List-Id']).toBe('<a.-.b.-.mail.example.com>');
});

test('webhooks learn what a link has turned off, once', async () => {
  const { id, session } = await newPerson();
  await app.api('PUT', '/admin/v1/topics/chess', { bearer: app.adminKey, body: { title: 'Chess', is_open: true } });
  const body = { topics: { chess: { email: 'on' } }, categories: { billing: { push: 'off' } } };
  await app.api('PATCH', '/v1/preferences', { bearer: session, body });
  const { body: webhook } = await app.api<{ id: string }>('POST', '/admin/v1/webhooks', {
    ...{ bearer: app.adminKey, body: { url: 'https://example.com/events', events: ['preference.changed'] } },
  });
  await app.api('PATCH', `/admin/v1/webhooks/${webhook.id}`, { bearer: app.adminKey, body: { enabled: false } });
  for (const token of [tokenFor(id), tokenFor(id), tokenFor(newId())]) expect((await post(token)).status).toBe(200);
  const events = await eventually('an empty outbox', async () => {
    const waiting = await app.database.query(testSql('select from webhook_outbox'));
    return waiting.length > 0
      ? undefined
      : app.database.query(testSql('select user_id, type, data from webhook_events'));
  });
  const changed_fields = ['categories.billing.email', 'topics.chess.email'];
  expect(events).toEqual([{ user_id: id, type: 'preference.changed', data: { actor: 'user', changed_fields } }]);
  await app.api('DELETE', `/admin/v1/webhooks/${webhook.id}`, { bearer: app.adminKey });
});

test.each([
  ['urlencoded, as mail programs post it', { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }],
  ['multipart', { body: new FormData() }],
  ['without a body', {}],
])('a post turns one category off for mail: %s', async (_form, init) => {
  const { id, session } = await newPerson();
  await app.api('PATCH', '/v1/preferences', {
    bearer: session,
    body: { categories: { billing: { push: 'off' }, pool: { email: 'on' } } },
  });
  expect((await post(tokenFor(id), init)).status).toBe(200);
  const { body } = await app.api<Preferences>('GET', '/v1/preferences', { bearer: session });
  expect(body.categories.billing?.cells).toMatchObject({
    email: { value: 'off', is_chosen: true },
    push: { value: 'off', is_chosen: true },
    sms: { value: 'on', is_chosen: false },
  });
  expect(body.categories.pool?.cells.email).toEqual({ value: 'on', default: 'on', is_chosen: true });
  expect(body.channels.email).toBe('on');
});

test('a post wins over topics that were chosen for mail, and leaves their other choices', async () => {
  const { id, session } = await newPerson();
  for (const key of ['club', 'league', 'news']) {
    await app.api('PUT', `/admin/v1/topics/${key}`, { bearer: app.adminKey, body: { title: key, is_open: true } });
    await app.api('PUT', `/v1/topics/${key}/subscription`, { bearer: session });
  }
  const choose = (topics: object) => app.api('PATCH', '/v1/preferences', { bearer: session, body: { topics } });
  const chosen = async () => {
    const [row] = await app.database.query<{ topics: Record<string, Record<string, { value: string }>> }>({
      text: `select topics from preferences where user_id = '${id}'`,
      values: [],
    });
    return Object.entries(row?.topics ?? {}).flatMap(([key, cells]) =>
      Object.entries(cells).map(([cell, { value }]) => `${key} ${cell} ${value}`),
    );
  };
  await choose({ club: { email: 'on', push: 'off' }, league: { email: 'on' }, news: { email: 'off' } });
  await post(tokenFor(id));
  expect(await chosen()).toEqual(['club push off', 'news email off']);
  expect((await emailOf(session))?.value).toBe('off');
  // Also when the category is off already.
  await choose({ league: { email: 'on' } });
  await post(tokenFor(id));
  expect(await chosen()).toEqual(['club push off', 'news email off']);
});

test('a post again changes nothing, and a user can turn the category on again', async () => {
  const { id, session } = await newPerson();
  const token = tokenFor(id);
  await post(token);
  const rows = () =>
    app.database.query<{ version: string }>({
      text: `select xmin::text as version from preferences where user_id = '${id}'`,
      values: [],
    });
  const [before] = await rows();
  await post(token);
  expect(await rows()).toEqual([before]);
  await app.api('PATCH', '/v1/preferences', { bearer: session, body: { categories: { billing: { email: 'on' } } } });
  expect((await emailOf(session))?.value).toBe('on');
  await post(token);
  expect((await emailOf(session))?.value).toBe('off');
});

test('parallel posts and changes of other cells lose nothing', async () => {
  const { id, session } = await newPerson();
  const token = tokenFor(id);
  const others = ['pool', 'payment', 'request'];
  await Promise.all([
    ...others.map((name) =>
      app.api('PATCH', '/v1/preferences', { bearer: session, body: { categories: { [name]: { push: 'off' } } } }),
    ),
    post(token),
    post(token),
  ]);
  const { body } = await app.api<Preferences>('GET', '/v1/preferences', { bearer: session });
  expect(others.map((name) => body.categories[name]?.cells.push.value)).toEqual(['off', 'off', 'off']);
  expect(body.categories.billing?.cells.email.value).toBe('off');
});

test('a token of a former key is valid while the key is configured', async () => {
  const { id, session } = await newPerson();
  const former = createUnsubscribe({
    database: app.database,
    keys: createSecretKeys([formerKey]),
    ...{ publicUrl: 'https://auth.example.com', domain: 'example.com', footer: undefined },
  });
  const { 'List-Unsubscribe': header = '' } = former.partsFor(category, { id, locale: null })?.headers ?? {};
  await post(header.slice(header.lastIndexOf('/') + 1, -1));
  expect((await emailOf(session))?.value).toBe('off');
});

test('deleted users, and tokens that are unknown, of another user or malformed get the same answer by as many statements', async () => {
  const { id, session } = await newPerson();
  const deleted = await createUser(app, {});
  await app.api('DELETE', `/admin/v1/users/${deleted.id}`, { bearer: app.adminKey });
  const valid = tokenFor(id);
  const bytes = Buffer.from(valid, 'base64url');
  const changed = (index: number) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(index) ^ 1, index);
    return copy.toString('base64url');
  };
  const expected = await seen(await post(valid));
  expect(expected.status).toBe(200);
  await app.api('PATCH', '/v1/preferences', { bearer: session, body: { categories: { billing: { email: 'on' } } } });
  const others = [
    ...[tokenFor(deleted.id), changed(0), changed(20), changed(bytes.length - 1)],
    ...[`${valid}=`, `${valid}A`, valid.slice(0, -1), valid.toUpperCase(), 'x', '%00', '..%2f', 'A'.repeat(5000)],
  ];
  for (const token of others) {
    let answer: Awaited<ReturnType<typeof seen>> | undefined;
    const sent = await queriesOf(async () => {
      answer = await seen(await post(token));
    });
    expect([token, answer]).toEqual([token, expected]);
    expect([token, sent.map(({ name }) => name)]).toEqual([token, ['preferences_unsubscribe']]);
  }
  expect((await emailOf(session))?.value).toBe('on');
});

test('opening the link shows a page in the language of the reader, and sends nothing to the database', async () => {
  const { id, session } = await newPerson();
  const token = tokenFor(id);
  const sent = await queriesOf(async () => {
    for (let round = 0; round < 200; round += 1) {
      const method = round % 4 === 0 ? 'HEAD' : 'GET';
      expect((await visit(token, { method })).status).toBe(200);
    }
  });
  expect(sent).toEqual([]);
  expect((await emailOf(session))?.is_chosen).toBe(false);
  const page = await visit(token, { headers: { 'accept-language': 'es-ES,en;q=0.5' } });
  const text = await page.text();
  expect(text).toContain('<html lang="es">');
  expect(text).toMatch(/<form method="post">.*<button>Dejar de recibir estos correos<\/button><\/form>/);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; .*form-action 'self'$/,
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
});

test('a body that is too long or of another type is refused', async () => {
  const { id } = await newPerson();
  const token = tokenFor(id);
  expect((await post(token, { body: new URLSearchParams({ a: 'x'.repeat(10_000) }) })).status).toBe(413);
  expect((await post(token, { body: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(415);
});
