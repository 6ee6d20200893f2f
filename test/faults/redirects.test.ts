import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { createApi, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { BUILD_TIMEOUT, buildService, type ServiceProcess, startProcess } from '../support/process.js';
import { createRedirectSteps, type Jar, publicUrl, returnTo } from '../support/redirects.js';
import { testSql } from '../support/sql.js';
import { startVendor, type Vendor } from '../support/vendor.js';

/** The service is killed at each step of a login by redirect. A person then begins again, and nothing is half made. */

let vendor: Vendor;
let stored: TestDatabase;
let cwd: string;
let service: ServiceProcess;
let postern: Pick<TestApp, 'url' | 'api'>;
const adminKey = `admin-${randomBytes(24).toString('hex')}`;
const secretKey = randomBytes(32).toString('hex');

beforeAll(async () => {
  await buildService();
  [vendor, stored, cwd] = await Promise.all([
    startVendor(),
    createTestDatabase(),
    mkdtemp(join(tmpdir(), 'postern-redirects-')),
  ]);
  await start();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service.stop();
  await vendor.close();
  await stored.drop();
  await rm(cwd, { recursive: true });
});

async function start() {
  const client = { client_id: 'ours', client_secret: 'a secret', issuer: vendor.url };
  service = await startProcess({
    cwd,
    env: {
      ...{ PORT: '0', DATABASE_URL: stored.url, SECRET_KEY: secretKey, ADMIN_API_KEY: adminKey, LOG_LEVEL: 'warn' },
      ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
      ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo },
      OIDC_PROVIDERS: JSON.stringify({ google: { ...client, preset: 'google', sign_up: true } }),
    },
  });
  postern = { url: service.url, api: createApi(service.url, () => undefined) };
}

const { begin, end, send, open, visit, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));
const codeOf = (to: string) => new URL(to || 'about:blank').searchParams.get('code') ?? '';

/** The digest by which an account at the provider is unique. */
const digest = () => createHash('sha256').update(`${vendor.url}\n${vendor.account.sub}`).digest();

const count = async (text: string, values: unknown[] = []) => {
  const rows = await stored.database.query<{ count: number }>(testSql(text, values));
  return rows[0]?.count ?? Number.NaN;
};
const links = () => count('select count(*)::int as count from external_identities where digest = $1', [digest()]);
const users = () => count('select count(*)::int as count from users where email = $1', [vendor.account.email]);
const blocked = (requests: number) =>
  eventually('the service to wait for our locks', async () => {
    const waiting = await count(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting === requests ? true : undefined;
  });

/** Holds what a statement locks or writes, until it is let go. Nothing that it wrote stays. */
async function hold(text: string, values: unknown[]) {
  let letGo: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let isHeld: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const done = stored.database
    .transaction(async (tx) => {
      await tx.query(testSql(text, values));
      isHeld();
      await released;
      throw new Error('not kept');
    })
    .catch((error: Error) => expect(error.message).toBe('not kept'));
  await held;
  return async () => {
    letGo();
    await done;
  };
}

const claimAccount = () =>
  hold(
    `insert into external_identities (digest, user_id, id, provider, issuer, subject, created_at)
     values ($1, $2, $3, 'google', 'x', 'x', db_now())`,
    [digest(), randomUUID(), randomUUID()],
  );

/** After the kill, a new login makes the user or finds it. */
async function beginsAgain() {
  const { status, body } = await logIn();
  expect({ status, login: body.status }).toEqual({ status: 201, login: 'approved' });
  expect([await users(), await links()]).toEqual([1, 1]);
}

/** Each login is that of a person with an account of their own at the provider. */
type Account = Vendor['account'];
const newAccount = (): Account => ({ sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true });
const become = (account: Account = newAccount()) => {
  vendor.account = account;
  return account;
};

describe('kill -9 of the service, with logins at four steps', () => {
  /** Brings a login to a step. Returns what is expected after the kill. */
  const steps: Readonly<Record<string, () => Promise<() => Promise<void>>>> = {
    'after the start: the login goes on': async () => {
      const login = await begin();
      return async () => {
        const code = codeOf((await goThrough(login.url)).to);
        expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(201);
        expect([await users(), await links()]).toEqual([1, 1]);
      };
    },
    'while the browser is at the provider: the login goes on': async () => {
      const jar: Jar = new Map();
      const login = await begin();
      const { callback } = await visit(login.url, jar);
      return async () => {
        const code = codeOf((await open(callback, jar)).to);
        expect((await end(login.body.id, code, login.codeVerifier)).status).toBe(201);
      };
    },
    'after the browser has come back: the code still ends the login': async () => {
      const login = await begin();
      const { to, callback, jar } = await goThrough(login.url);
      return async () => {
        expect((await open(callback, jar)).to).toBe(to);
        expect((await end(login.body.id, codeOf(to), login.codeVerifier)).status).toBe(201);
      };
    },
    // The last one, because the provider answers no exchange any more.
    'during the exchange with the provider: the app gets an error, and begins again': async () => {
      const jar: Jar = new Map();
      const login = await begin();
      const { callback } = await visit(login.url, jar);
      const asked = vendor.tokenRequests.length;
      vendor.onToken = () => true;
      const lost = open(callback, jar).catch(() => 'lost');
      await eventually('the exchange', async () => (vendor.tokenRequests.length > asked ? true : undefined));
      return async () => {
        expect(await lost).toBe('lost');
        await stepClock(stored.database, '30 seconds');
        expect(new URL((await open(callback, jar)).to).searchParams.get('error')).toBe('failed');
        await stepClock(stored.database, '0');
        expect([await users(), await links()]).toEqual([0, 0]);
        await beginsAgain();
      };
    },
  };
  const logins = new Map<string, { readonly account: Account; readonly goesOn: () => Promise<void> }>();
  beforeAll(async () => {
    for (const [step, reach] of Object.entries(steps)) {
      const account = become();
      logins.set(step, { account, goesOn: await reach() });
    }
    await service.stop('SIGKILL');
    vendor.onToken = undefined;
    await start();
  });

  test.each(Object.keys(steps))('%s', async (step) => {
    const { account, goesOn } = logins.get(step) ?? expect.unreachable('each login has reached its step');
    become(account);
    await goesOn();
  });
});

test('kill -9 while a user is made, and while an account is linked to a user: there is no user and no link', async () => {
  const made = become();
  const login = await begin();
  const code = codeOf((await goThrough(login.url)).to);

  const linked = become();
  const body = { username: `user${randomUUID()}`, email: linked.email, password: 'a battery of horses' };
  const { body: user } = await postern.api<User>('POST', '/admin/v1/users', { bearer: adminKey, body });
  const proof = { authenticator: 'password', secret: 'a battery of horses' };
  const { body: linking } = await logIn();

  const letUserGo = await hold('select 1 from users where id = $1 for update', [user.id]);
  become(made);
  const letAccountGo = await claimAccount();
  // One after the other: a request waits two seconds for a lock, and both must wait.
  const lostUser = end(login.body.id, code, login.codeVerifier).catch(() => 'lost');
  await blocked(1);
  const lostLink = send(linking.id, proof).catch(() => 'lost');
  await blocked(2);
  await service.stop('SIGKILL');
  await Promise.all([letUserGo(), letAccountGo()]);
  expect([await lostLink, await lostUser]).toEqual(['lost', 'lost']);
  await start();

  expect([await users(), await links()]).toEqual([0, 0]);
  await beginsAgain();
  become(linked);
  expect(await links()).toBe(0);
  const { body: again } = await logIn();
  expect((await send(again.id, proof)).body.user_id).toBe(user.id);
  expect(await links()).toBe(1);
});

test('kill -9 after the user is made, before the login is approved: the next login finds the user', async () => {
  become();
  const login = await begin();
  const code = codeOf((await goThrough(login.url)).to);
  const letAccountGo = await claimAccount();
  const lost = end(login.body.id, code, login.codeVerifier).catch(() => 'lost');
  await blocked(1);
  const letLoginGo = await hold('select 1 from authentications where id = $1 for update', [login.body.id]);
  await letAccountGo();
  await eventually('the user', async () => ((await users()) === 1 ? true : undefined));
  await blocked(1);
  await service.stop('SIGKILL');
  await letLoginGo();
  expect(await lost).toBe('lost');
  await start();
  await beginsAgain();
});
