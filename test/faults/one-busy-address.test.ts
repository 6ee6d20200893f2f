import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { byPassword, codeTo } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fastHashes } from '../support/fast-hashes.js';
import { queriesOf } from '../support/queries.js';
import { createRedirectSteps, publicUrl, returnTo } from '../support/redirects.js';
import { testSql } from '../support/sql.js';
import {
  codeOf,
  createUser,
  emailLogin,
  login,
  newEmail,
  newPhone,
  passwordLogin,
  signIn,
  smsLogin,
} from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let postern: TestApp;
/** How many hashes run now, and the most that ran at a time. Each waits until `hold` resolves. */
const hashing = { now: 0, most: 0 };
let hold: Promise<void> | undefined;
async function held<T>(compute: () => Promise<T>): Promise<T> {
  hashing.now += 1;
  hashing.most = Math.max(hashing.most, hashing.now);
  await hold;
  hashing.now -= 1;
  return compute();
}
const heldHashes: HashThreads = {
  ...fastHashes,
  hash: (secret, options) => held(() => fastHashes.hash(secret, options)),
  verify: (stored, secret) => held(() => fastHashes.verify(stored, secret)),
};
let service: WebhookReceiver;
let vendor: Vendor;
beforeAll(async () => {
  service = await startWebhookReceiver();
  vendor = await startVendor();
  postern = await startTestApp(
    {
      ...{ TRUST_PROXY: '127.0.0.1', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
      CUSTOM_AUTHENTICATORS: JSON.stringify({
        slow: { url: service.url, secret: `whsec_${'a'.repeat(32)}` },
        slower: { url: service.url, secret: `whsec_${'a'.repeat(32)}`, steps: 2 },
      }),
      ...{ REGISTRATION: 'on', PIN_ENROL: 'first_login', PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo },
      OIDC_PROVIDERS: JSON.stringify({
        google: { preset: 'google', client_id: 'ours', client_secret: 'a secret', issuer: vendor.url, sign_up: true },
      }),
    },
    // Requests wait for locks and for answers that the tests hold, on a busy machine for a long time.
    { hashThreads: heldHashes, queryTimeout: 60_000, outboundTimeout: 150_000 },
  );
});
afterAll(async () => {
  await postern.close();
  await service.close();
  await vendor.close();
});
const { begin: beginRedirect, end: endRedirect, goThrough } = createRedirectSteps(() => ({ postern, vendor }));

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

const queued = {
  codes: {
    limits: 'message_limits',
    ask: (user: User, address: string) =>
      postern.api('POST', '/v1/tokens', { body: emailLogin(user.email), ...from(address) }),
  },
  logins: {
    limits: 'guess_budgets',
    ask: (user: User, address: string) =>
      postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong'), ...from(address) }),
  },
};

describe.each(Object.entries(queued))('of many %s', (_, { limits, ask }) => {
  /** Users whose rows exist and are locked now, and a function that unlocks them. */
  async function lockedUsers(count: number) {
    await postern.database.query(testSql('delete from request_limits'));
    await postern.database.query(testSql(`delete from ${limits}`));
    const users = await Promise.all(Array.from({ length: count }, () => createUser(postern, { email: newEmail() })));
    for (const user of users) await ask(user, '11.0.2.1');
    const client = await beginTransaction();
    await client.query(`select from ${limits} for update`);
    return { users, client };
  }

  test('ten of a locked account delay no other account of the same address', async () => {
    const { users, client } = await lockedUsers(1);
    const [locked = expect.unreachable()] = users;
    const other = await createUser(postern, { email: newEmail() });
    const waitingRequests = Array.from({ length: 10 }, () => ask(locked, '11.0.2.2'));
    await eventually('a request to wait', async () => ((await waiting(client)) > 0 ? true : undefined));
    expect((await ask(other, '11.0.2.2')).status).toBe(201);
    expect(await waiting(client)).toBe(1);
    await client.query('rollback');
    await Promise.all(waitingRequests);
  });

  test('those of a stranger that wait for their turn do not delay another address with the same account', async () => {
    const { users, client } = await lockedUsers(3);
    const other = await createUser(postern, { email: newEmail() });
    const places = users.map((user) => ask(user, '11.0.2.3'));
    await eventually('requests to wait', async () => ((await waiting(client)) >= 2 ? true : undefined));
    const ofStranger = Array.from({ length: 5 }, () => ask(other, '11.0.2.3'));
    // A later request of the stranger has been answered, so those before it have been read.
    expect((await postern.api('GET', '/livez', from('11.0.2.3'))).status).toBe(200);
    expect((await ask(other, '11.0.2.4')).status).toBe(201);
    await client.query('rollback');
    await Promise.all([...places, ...ofStranger]);
  });
});

test('a request for a code sends at most twice as many statements as a login with a password', async () => {
  const user = await createUser(postern, { email: newEmail() });
  await signIn(postern, user);
  const ofLogin = await queriesOf(() => login(postern, user));
  const ofCode = await queriesOf(() => postern.api('POST', '/v1/tokens', { body: emailLogin(user.email) }));
  expect(ofLogin.length).toBeGreaterThan(0);
  expect(ofCode.length).toBeLessThanOrEqual(2 * ofLogin.length);
});

test('three logins of an address run at a time, and those of another address do not wait for them', async () => {
  await postern.database.query(testSql('delete from request_limits'));
  const client = await beginTransaction();
  // Logins of all accounts now wait when they take a guess.
  await client.query('lock table guess_budgets in exclusive mode');
  // Few, because a login waits for at most ten seconds until it runs.
  const flood = Array.from({ length: 8 }, (_, at) =>
    postern.api('POST', '/v1/tokens', { body: passwordLogin(`nobody${at}`, 'wrong'), ...from('11.0.0.3') }),
  );
  const isWaiting = (count: number) =>
    eventually(`${count} logins to wait`, async () => ((await waiting(client)) === count ? true : undefined));
  await isWaiting(3);
  const other = postern.api('POST', '/v1/tokens', { body: passwordLogin('somebody', 'wrong'), ...from('11.0.0.4') });
  await isWaiting(4);
  expect((await postern.api('GET', '/readyz')).status).toBe(200);
  expect(await waiting(client)).toBe(4);
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
  'passwords that an operator has set for one login': async () => {
    const user = await createUser(postern, { must_change: true });
    const { body } = await login(postern, user);
    return (headers) =>
      postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret: newPassword, pin: '2468' }, ...headers });
  },
  'passwords that prove an account before another is linked': async () => {
    vendor.reset();
    const email = newEmail().replace('example.com', 'gmail.com');
    await createUser(postern, { email });
    vendor.account = { sub: crypto.randomUUID(), email, email_verified: true };
    const { body, codeVerifier, url } = await beginRedirect();
    const { app } = await goThrough(url);
    const next = await endRedirect(body.id, app.get('code') ?? '', codeVerifier);
    expect(next.body.challenge).toMatchObject({ type: 'link' });
    const secret = JSON.stringify({ authenticator: 'password', secret: 'wrong' });
    return (headers) => postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret }, ...headers });
  },
  'passwords and PINs of registrations': async () => {
    const email = newEmail();
    const { username } = await createUser(postern);
    const { body } = await postern.api('POST', '/v1/registrations', {
      body: { identity: { type: 'email', value: email } },
    });
    const secret = await codeTo(postern, email);
    // Somebody has this name, so that no answer ends the registration.
    const answer = { secret, username, password: newPassword, pin: '2468' };
    return (headers) => postern.api('POST', `/v1/registrations/${body.id}`, { body: answer, ...headers });
  },
  'new passwords of accounts': async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const body = { password: newPassword, proof: byPassword };
    return (headers) => postern.api('PUT', '/v1/account/password', { bearer: session.token, body, ...headers });
  },
  'PINs of first logins': async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const { phone } = await createUser(postern, { phone: newPhone() });
        const { body } = await postern.api('POST', '/v1/tokens', { body: smsLogin(phone), ...from('11.0.1.2') });
        return { id: String(body.id), secret: await codeOf(postern, String(body.id)) };
      }),
    );
    return (headers) => {
      const { id, secret } = ids.pop() ?? expect.unreachable();
      return postern.api('POST', `/v1/tokens/${id}/secret`, { body: { secret, pin: '2468' }, ...headers });
    };
  },
};
const newPassword = 'nine dull horses';

test.each(Object.entries(flowsWithHashes))(
  'one hash of an address runs at a time, and another address does not wait for it: %s',
  async (_, createFlow) => {
    await postern.database.query(testSql('delete from request_limits'));
    const ask = await createFlow();
    const release = holdHashes();
    hashing.most = 0;
    const flood = Array.from({ length: 5 }, () => ask(from('11.0.0.5')));
    await eventually('the first hash', async () => (hashing.now > 0 ? true : undefined));
    const body = passwordLogin(`somebody${Math.random()}`, 'wrong');
    const other = postern.api('POST', '/v1/tokens', { body, ...from('11.0.0.6') });
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
