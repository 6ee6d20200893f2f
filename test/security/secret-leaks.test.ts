import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp/receiver.js';
import { testSql } from '../support/sql.js';
import { createUser, newPhone, passwordLogin, signIn, smsLogin } from '../support/users.js';

/** All secrets of this test. None may appear outside of their intended places. */
const secrets = new Map<string, string>();
const webhooks: { code: string; authentication_id: string }[] = [];
const provider = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    webhooks.push(JSON.parse(text));
    // Fails at first, and repeats the request in its answer.
    response.writeHead(webhooks.length % 2 === 1 ? 500 : 200).end(text);
  });
});

let postern: TestApp;
let otlp: OtlpReceiver;
beforeAll(async () => {
  otlp = await startOtlpReceiver();
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  const signing = `whsec_${Buffer.from(randomUUID().repeat(2)).toString('base64')}`;
  secrets.set('webhook secret', signing);
  postern = await startTestApp({
    ...{ SMS_PROVIDER: 'webhook', SMS_WEBHOOK_URL: `http://127.0.0.1:${port}/sms`, SMS_WEBHOOK_SECRET: signing },
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOG_LEVEL: 'trace', LOGIN_LIMIT_PER_ADDRESS: '0' },
    ...{
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    },
  });
  secrets.set('admin key', postern.adminKey);
});
afterAll(async () => {
  await postern.close();
  await otlp.close();
  provider.close();
});

async function useEverything(): Promise<void> {
  const { api, adminKey } = postern;
  const password = `canary-password-${randomUUID()}`;
  const wrongPassword = `canary-wrong-${randomUUID()}`;
  const [pin, phone] = ['904817263518', newPhone()];
  for (const [name, secret] of Object.entries({ password, wrongPassword, pin })) secrets.set(name, secret);
  const user = await createUser(postern, { password, pin, phone });
  await api('POST', '/v1/tokens', { body: passwordLogin(user.username, wrongPassword) });
  await api('POST', '/v1/tokens', { body: `{"secret":"${wrongPassword}"` });
  await api('GET', `/v1/tokens/${wrongPassword}?secret=${wrongPassword}`);
  const { body: approved } = await api<Authentication>('POST', '/v1/tokens', {
    body: { ...passwordLogin(user.username, password), pin },
  });
  const token = approved.token ?? '';
  secrets.set('authentication token', token);
  const { body: session } = await api<{ token: string }>('POST', '/v1/sessions', { basic: token });
  secrets.set('session token', session.token);
  await api('GET', '/v1/notifications', { bearer: session.token });
  await api('GET', '/v1/notifications', { bearer: session.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) });
  const { body: key } = await api<IssuedApiKey>('POST', '/admin/v1/keys', {
    bearer: adminKey,
    body: { name: 'canary', scopes: ['admin'] },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  secrets.set('api key', key.token);
  await api('PATCH', `/admin/v1/users/${user.id}`, { bearer: key.token, body: { password: `${password}-new` } });

  const { body: started } = await api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
  const sent = await eventually('the code', async () => webhooks.find((sms) => sms.authentication_id === started.id));
  secrets.set('code', sent.code);
  await eventually('the second delivery', async () => (webhooks.length >= 2 ? true : undefined));
  await api('POST', `/v1/tokens/${started.id}/secret`, { body: { secret: sent.code, pin: '0000' } });
  await api('POST', `/v1/tokens/${started.id}/secret`, { body: { secret: sent.code, pin } });
  await useSelfService();
  await signIn(postern, await createUser(postern));
}

/** The self-service actions. */
async function useSelfService(): Promise<void> {
  const { api } = postern;
  const own = `canary-own-${randomUUID()}`;
  const next = `canary-next-${randomUUID()}`;
  const recovered = `canary-recovered-${randomUUID()}`;
  for (const [name, secret] of Object.entries({ own, next, recovered })) secrets.set(name, secret);
  const user = await createUser(postern, { password: own, phone: newPhone() });
  const { body: approved } = await api<Authentication>('POST', '/v1/tokens', {
    body: passwordLogin(user.username, own),
  });
  const { body: session } = await api<{ token: string }>('POST', '/v1/sessions', { basic: approved.token ?? '' });
  const ask = (method: string, path: string, body: object) =>
    api<{ id: string }>(method, `/v1/account${path}`, { bearer: session.token, body });
  await ask('PUT', '/password', { password: next, proof: { type: 'password', secret: next } });
  await ask('PUT', '/password', { password: next, proof: { type: 'password', secret: own } });
  const codeAfter = async (webhookCount: number) =>
    (await eventually('a code', async () => (webhooks.length >= webhookCount ? webhooks : undefined))).at(-1)?.code ??
    '';
  let sent = webhooks.length;
  const { body: proof } = await ask('POST', '/proofs', { type: 'sms' });
  const code = await codeAfter(sent + 2);
  secrets.set('code of a proof', code);
  await ask('PUT', '/pin', { pin: '718293645546', proof: { type: 'code', id: proof.id, secret: code } });
  secrets.set('own PIN', '718293645546');
  sent = webhooks.length;
  const { body: recovery } = await api<{ id: string }>('POST', '/v1/recoveries', {
    body: { identity: { type: 'phone', value: user.phone }, purpose: 'password' },
  });
  const secret = await codeAfter(sent + 2);
  secrets.set('code of a recovery', secret);
  const done = await api('POST', `/v1/recoveries/${recovery.id}`, { body: { secret, password: recovered } });
  expect(done.status).toBe(200);
}

async function dump(): Promise<string> {
  const tables = await postern.database.query<{ name: string }>(
    testSql(`select format('%I.%I', schemaname, tablename) as name from pg_tables
         where schemaname not in ('pg_catalog', 'information_schema')`),
  );
  const rows = await Promise.all(
    tables.map(({ name }) => postern.database.query<{ row: string }>(testSql(`select t::text as row from ${name} t`))),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

test('no secret appears in the log, in traces, in a database dump, or in operators’ responses', async () => {
  await useEverything();
  const { headers } = await postern.api('GET', '/livez');
  const last = headers['request-id'];
  await otlp.wait('the span of the last request', ({ attributes }) => attributes['postern.request_id'] === last);
  const readable = await Promise.all(
    ['users', 'outbox', 'events', 'keys'].map((list) =>
      postern.api('GET', `/admin/v1/${list}?limit=100`, { bearer: postern.adminKey }),
    ),
  );
  const places = {
    log: postern.logged.join('\n'),
    traces: otlp.requests.map(({ body }) => body.toString()).join('\n'),
    dump: await dump(),
    answers: readable.map(({ text }) => text).join('\n'),
  };
  expect(secrets.size).toBe(15);
  for (const [place, text] of Object.entries(places)) {
    expect(text.length, place).toBeGreaterThan(1000);
    for (const [name, secret] of secrets) {
      const forms = [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')];
      // Six digits can occur in a number or a time by chance, so they count only as a separate word.
      const found = name.startsWith('code')
        ? new RegExp(`(?<![0-9a-f.])${secret}(?![0-9a-f])`).test(text)
        : forms.some((form) => text.includes(form));
      expect(found, `${name} in the ${place}`).toBe(false);
    }
  }
});

test('input of clients stays on one line of the log', async () => {
  const forged = 'x%0D%0A{"level":"error","msg":"forged"}';
  await postern.api('GET', `/v1/tokens/${forged}`);
  await postern.api('GET', '/v1/notifications', { headers: { 'accept-language': 'en\t"}' } });
  for (const line of postern.logged) expect(line.trimEnd()).not.toContain('\n');
  expect(postern.logged.some((line) => line.includes('forged'))).toBe(false);
});
