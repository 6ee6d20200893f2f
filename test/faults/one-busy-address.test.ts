import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { byPassword } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fastHashes } from '../support/fast-hashes.js';
import { queriesOf } from '../support/queries.js';
import { testSql } from '../support/sql.js';
import { createUser, emailLogin, login, newEmail, passwordLogin, signIn } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let postern: TestApp;
/** How many hashes run now, and the most that ran at a time. Each waits until `hold` resolves. */
const hashing = { now: 0, most: 0 };
let hold: Promise<void> | undefined;
const heldHashes: HashThreads = {
  ...fastHashes,
  async verify(stored, secret) {
    hashing.now += 1;
    hashing.most = Math.max(hashing.most, hashing.now);
    await hold;
    hashing.now -= 1;
    return fastHashes.verify(stored, secret);
  },
};
let service: WebhookReceiver;
beforeAll(async () => {
  service = await startWebhookReceiver();
  postern = await startTestApp(
    {
      ...{ TRUST_PROXY: '127.0.0.1', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
      CUSTOM_AUTHENTICATORS: JSON.stringify({
        slow: { url: service.url, secret: `whsec_${'a'.repeat(32)}` },
        slower: { url: service.url, secret: `whsec_${'a'.repeat(32)}`, steps: 2 },
      }),
    },
    { hashThreads: heldHashes },
  );
});
afterAll(async () => {
  await postern.close();
  await service.close();
});

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

/** The requests of one address that wait for the row of its limit. */
async function waiting(client: Awaited<ReturnType<typeof openClient>>): Promise<number> {
  // Without this, a transaction sees the activity of the moment in which it first asked.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'postern' and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

async function beginTransaction() {
  const client = await openClient(postern.databaseEnv.DATABASE_URL, {
    application_name: 'test',
    connectionTimeoutMillis: 10_000,
  });
  onTestFinished(() => client.end());
  await client.query('begin');
  return client;
}

test.each([
  ['logins', passwordLogin('nobody', 'wrong')],
  ['codes', emailLogin('nobody@example.com')],
])('a hundred %s of one address use few connections while they wait, so others log in meanwhile', async (_, body) => {
  const other = await createUser(postern);
  await postern.database.query(testSql('delete from request_limits'));
  await postern.api('POST', '/v1/tokens', { body: passwordLogin('nobody', 'wrong'), ...from('11.0.0.1') });
  const client = await beginTransaction();
  await client.query('select from request_limits for update');
  const flood = Array.from({ length: 100 }, () => postern.api('POST', '/v1/tokens', { body, ...from('11.0.0.1') }));
  await eventually('requests to wait', async () => ((await waiting(client)) > 0 ? true : undefined));
  // The login takes a new row, and it needs connections that the flood could have taken.
  const { session } = await signIn(postern, other);
  expect(session.token).toContain('pss_');
  expect(await waiting(client)).toBeLessThanOrEqual(4);
  await client.query('rollback');
  await Promise.all(flood);
});

test('ten requests for codes of a locked account delay no other account of the same address', async () => {
  const locked = await createUser(postern, { email: newEmail() });
  const other = await createUser(postern, { email: newEmail() });
  const code = ({ email }: { readonly email: string | null }) =>
    postern.api('POST', '/v1/tokens', { body: emailLogin(email), ...from('11.0.0.2') });
  await code(locked);
  const client = await beginTransaction();
  await client.query('select from message_limits for update');
  const waitingRequests = Array.from({ length: 10 }, () => code(locked));
  await eventually('a request to wait', async () => ((await waiting(client)) > 0 ? true : undefined));
  expect((await code(other)).status).toBe(201);
  expect(await waiting(client)).toBe(1);
  await client.query('rollback');
  await Promise.all(waitingRequests);
});

test('a request for a code sends at most twice as many statements as a login with a password', async () => {
  const user = await createUser(postern, { email: newEmail() });
  await signIn(postern, user);
  const ofLogin = await queriesOf(() => login(postern, user));
  const ofCode = await queriesOf(() => postern.api('POST', '/v1/tokens', { body: emailLogin(user.email) }));
  expect(ofLogin.length).toBeGreaterThan(0);
  expect(ofCode.length).toBeLessThanOrEqual(2 * ofLogin.length);
});

test('one login of an address runs at a time, and those of another address do not wait for them', async () => {
  await postern.database.query(testSql('delete from request_limits'));
  const client = await beginTransaction();
  // Logins of all accounts now wait when they take a guess.
  await client.query('lock table guess_budgets in exclusive mode');
  const flood = Array.from({ length: 20 }, (_, at) =>
    postern.api('POST', '/v1/tokens', { body: passwordLogin(`nobody${at}`, 'wrong'), ...from('11.0.0.3') }),
  );
  const isWaiting = (count: number) =>
    eventually(`${count} logins to wait`, async () => ((await waiting(client)) === count ? true : undefined));
  await isWaiting(1);
  const other = postern.api('POST', '/v1/tokens', { body: passwordLogin('somebody', 'wrong'), ...from('11.0.0.4') });
  await isWaiting(2);
  expect((await postern.api('GET', '/readyz')).status).toBe(200);
  expect(await waiting(client)).toBe(2);
  await client.query('rollback');
  for (const { status } of await Promise.all([...flood, other])) expect(status).toBe(201);
});

/** Keeps all hashes from ending. @returns a function that lets them end */
function holdHashes(): () => void {
  let release: () => void = () => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  onTestFinished(release);
  return release;
}

const flowsWithHashes: Record<string, () => Promise<(headers: object) => Promise<{ readonly status: number }>>> = {
  'passwords of a login': async () => (headers) =>
    postern.api('POST', '/v1/tokens', { body: passwordLogin(`nobody${Math.random()}`, 'wrong'), ...headers }),
  'PINs of logins that do not exist': async () => (headers) =>
    postern.api('POST', `/v1/tokens/${crypto.randomUUID()}/secret`, { body: { secret: '1', pin: '1234' }, ...headers }),
  'PINs of a login with a code': async () => {
    const { body } = await postern.api('POST', '/v1/tokens', { body: emailLogin(newEmail()), ...from('11.0.1.1') });
    return (headers) =>
      postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret: '000000', pin: '1234' }, ...headers });
  },
  'passwords of proofs': async () => {
    const { session } = await signIn(postern, await createUser(postern));
    return (headers) =>
      postern.api('PUT', '/v1/account/session-proof', {
        bearer: session.token,
        body: { proof: byPassword },
        ...headers,
      });
  },
};

test.each(Object.entries(flowsWithHashes))(
  'one hash of an address runs at a time, and another address does not wait for it: %s',
  async (_, createFlow) => {
    await postern.database.query(testSql('delete from request_limits'));
    const ask = await createFlow();
    const release = holdHashes();
    hashing.most = 0;
    const flood = Array.from({ length: 5 }, () => ask(from('11.0.0.5')));
    await eventually('the first hash', async () => (hashing.now > 0 ? true : undefined));
    const other = postern.api('POST', '/v1/tokens', { body: passwordLogin('somebody', 'wrong'), ...from('11.0.0.6') });
    await eventually('the hash of the other address', async () => (hashing.now > 1 ? true : undefined));
    expect((await postern.api('GET', '/readyz')).status).toBe(200);
    expect(hashing.most).toBe(2);
    release();
    await Promise.all(flood);
    expect((await other).status).toBe(201);
    expect(hashing.most).toBe(2);
  },
);

test('an authenticator of the operator that does not answer delays no password and no code of the same address', async () => {
  await postern.database.query(testSql('delete from request_limits'));
  const user = await createUser(postern);
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  onTestFinished(answer);
  service.answer = () => ({ status: 200, body: '{}' });
  const { body: begun } = await postern.api('POST', '/v1/tokens', {
    body: { ...passwordLogin(`nobody${Math.random()}`), authenticator: 'custom:slower', secret: undefined },
    ...from('11.0.0.7'),
  });
  expect(begun.status).toBe('pending');
  const before = service.received.length;
  service.answer = () => ({ status: 200, body: '{"approved":false}', after: answered });
  const pin = '1234';
  const slow = [
    ...Array.from({ length: 3 }, () => {
      const body = { ...passwordLogin(`nobody${Math.random()}`), authenticator: 'custom:slower', secret: undefined };
      return postern.api('POST', '/v1/tokens', { body, ...from('11.0.0.7') });
    }),
    ...Array.from({ length: 3 }, () => {
      const body = { ...passwordLogin(`nobody${Math.random()}`, 'wrong'), authenticator: 'custom:slow', pin };
      return postern.api('POST', '/v1/tokens', { body, ...from('11.0.0.7') });
    }),
    postern.api('POST', `/v1/tokens/${begun.id}/secret`, { body: { secret: 'wrong', pin }, ...from('11.0.0.7') }),
  ];
  await eventually('the calls', async () => (service.received.length === before + 7 ? true : undefined));
  const { body } = await postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username), ...from('11.0.0.7') });
  expect(body.status).toBe('approved');
  const code = await postern.api('POST', '/v1/tokens', { body: emailLogin(newEmail()), ...from('11.0.0.7') });
  expect(code.status).toBe(201);
  answer();
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201, 400]);
});
