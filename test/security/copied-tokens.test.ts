import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../src/contract/administration.js';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { type BoundLogin, bindLogin, newProofKey, proofFor, requestSession } from '../support/dpop.js';
import { eventually } from '../support/eventually.js';
import { queriesOf } from '../support/queries.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser, login } from '../support/users.js';

let one: TestApp;
let two: TestApp;
beforeAll(async () => {
  one = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'inbox', NOTIFICATION_TYPES: 'payment,pool,request,security' },
    // The proofs are for one host name, whichever instance answers.
    PUBLIC_URL: 'https://api.example',
  });
  two = await one.another();
});
afterAll(async () => {
  await two.close();
  await one.close();
});

const site = { url: 'https://api.example' };
const proofOf = (own: BoundLogin, claims: object = {}) => proofFor({ ...one, ...site }, own, { claims: { ...claims } });

async function newOwner(): Promise<{ user: User; own: BoundLogin }> {
  const user = await createUser(one);
  return { user, own: await bindLogin(one, user, { model: 'Fairphone' }) };
}

async function misuses(user: User): Promise<Event[]> {
  const query = `filter=user_id:${user.id},type:token.misused`;
  return (await one.api<Event[]>('GET', `/admin/v1/events?${query}`, { bearer: one.adminKey })).body;
}

async function noticesOf(user: User): Promise<Notification[]> {
  await eventually('an empty queue', async () => {
    const left = await one.database.query(
      testSql('select 1 from notices union all select 1 from graphile_worker._private_jobs'),
    );
    return left.length === 0 ? true : undefined;
  });
  const { body } = await one.api<Notification[]>('GET', `/admin/v1/users/${user.id}/notifications`, {
    bearer: one.adminKey,
  });
  return body;
}

describe('a copy of a bound token', () => {
  test('gets no session, and its use is recorded and shown to the user', async () => {
    const { user, own } = await newOwner();
    for (const proof of [undefined, 'junk', proofOf({ ...own, key: newProofKey() })]) {
      expect((await requestSession(two, own.token, proof)).status).toBe(401);
    }
    const [event, ...more] = await misuses(user);
    expect(more).toEqual([]);
    expect(event?.data).toEqual({
      authentication_id: own.authentication.id,
      device_id: own.authentication.device_id,
      cause: 'no_proof',
    });
    expect(event).toMatchObject({ actor: 'user', address: '127.0.0.1' });
    const [notice, ...others] = await noticesOf(user);
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ notification_type: 'security', notification_key: 'token_misused' });
    expect(notice?.description).toContain('a copy of the sign-in of one of your devices (Fairphone)');
    // The owner of the token still gets a session.
    const { body: session } = await requestSession(one, own.token, proofOf(own));
    const activity = await one.api<{ type: string; text: string }[]>('GET', '/v1/account/activity', {
      bearer: session.token,
    });
    expect(activity.body.map(({ type }) => type)).toContain('token.misused');
  });

  test('is reported again after an hour, and not more often, even if clocks differ', async () => {
    const { user, own } = await newOwner();
    const use = () => requestSession(one, own.token);
    await Promise.all(Array.from({ length: 20 }, use));
    expect(await misuses(user)).toHaveLength(1);
    const moveReport = (by: string) =>
      one.database.query(
        testSql(`update authentications set misuse_reported_at = misuse_reported_at + $2::interval where id = $1`, [
          own.authentication.id,
          by,
        ]),
      );
    await moveReport('-61 minutes');
    await Promise.all(Array.from({ length: 20 }, use));
    expect(await misuses(user)).toHaveLength(2);
    // A parallel request has reported the token after this one began.
    await moveReport('10 seconds');
    await use();
    expect(await misuses(user)).toHaveLength(2);
    // The clock of the database was wrong at the last report.
    await moveReport('1 hour');
    await use();
    expect(await misuses(user)).toHaveLength(3);
  });

  test('is not reported for a request that only needs a new nonce, nor for an unknown token', async () => {
    const { user, own } = await newOwner();
    expect((await requestSession(one, own.token, proofOf(own, { nonce: undefined }))).status).toBe(401);
    await requestSession(one, own.token.replace(/.{8}$/, 'AAAAAAAA'));
    expect(await misuses(user)).toEqual([]);
  });

  test('with an invalid proof by the right key is recorded, and the user gets no notice', async () => {
    const { user, own } = await newOwner();
    await requestSession(one, own.token, proofOf(own, { htm: 'GET' }));
    expect((await misuses(user)).map(({ data }) => data?.cause)).toEqual(['invalid_proof']);
    expect(await noticesOf(user)).toEqual([]);
  });
});

describe('a proof', () => {
  test('works once among many parallel requests to two instances, in each round', async () => {
    const { user, own } = await newOwner();
    for (let round = 0; round < raceRounds; round += 1) {
      const proof = proofOf(own);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => requestSession(index % 2 === 0 ? one : two, own.token, proof)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 401)]);
      const codes = answers.flatMap(({ body }) => body.errors?.map(({ code }) => code) ?? []);
      expect(new Set(codes)).toEqual(new Set(['invalid_dpop_proof']));
    }
    expect((await misuses(user)).map(({ data }) => data?.cause)).toEqual(['used_proof']);
  });

  test('works once also after a restart and with an expired nonce', async () => {
    const { own } = await newOwner();
    const proof = proofOf(own);
    expect((await requestSession(one, own.token, proof)).status).toBe(201);
    const restarted = await one.another();
    try {
      expect((await requestSession(restarted, own.token, proof)).body.errors?.[0]?.code).toBe('invalid_dpop_proof');
      await stepClock(one.database, '35 minutes');
      expect((await requestSession(restarted, own.token, proof)).body.errors?.[0]?.code).toBe('invalid_dpop_proof');
    } finally {
      await stepClock(one.database, '0');
      await restarted.close();
    }
  });

  test('does not use up the same jti of another token', async () => {
    const jti = randomUUID();
    const user = await createUser(one);
    for (const model of ['one', 'two']) {
      const own = await bindLogin(one, user, { model });
      expect((await requestSession(one, own.token, proofOf(own, { jti }))).status).toBe(201);
    }
  });

  test('is judged by the clock of the database', async () => {
    const { own } = await newOwner();
    await stepClock(one.database, '10 minutes');
    try {
      const behind = proofOf(own, { iat: Date.now() / 1000 - 400 });
      expect((await requestSession(one, own.token, behind)).body.errors?.[0]?.code).toBe('invalid_dpop_proof');
      expect((await requestSession(one, own.token, proofOf(own))).status).toBe(201);
      const ahead = proofOf(own, { iat: Date.now() / 1000 + 600 });
      expect((await requestSession(one, own.token, ahead)).status).toBe(201);
      await stepClock(one.database, '31 minutes');
      const late = proofOf(own, { iat: Date.now() / 1000 + 1860 });
      expect((await requestSession(one, own.token, late)).body.errors?.[0]?.code).toBe('use_dpop_nonce');
    } finally {
      await stepClock(one.database, '0');
    }
  });

  test('of another user’s token is refused, and so is a nonce of another user', async () => {
    const { own: mine } = await newOwner();
    const { own: theirs } = await newOwner();
    expect((await requestSession(one, theirs.token, proofOf(mine))).status).toBe(401);
    const borrowed = await requestSession(one, theirs.token, proofOf({ ...theirs, nonce: mine.nonce }));
    expect([borrowed.status, borrowed.body.errors?.[0]?.code]).toEqual([401, 'use_dpop_nonce']);
    expect((await requestSession(one, theirs.token, proofOf(theirs))).status).toBe(201);
  });
});

describe('parallel requests for sessions of two bound tokens', () => {
  test('are refused only if they have no proof', async () => {
    const { own } = await newOwner();
    const user = await createUser(one);
    const other = await bindLogin(one, user);
    await requestSession(one, own.token, proofOf(own));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 3 === 0 ? requestSession(one, own.token) : requestSession(one, other.token, proofOf(other)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? 401 : 201)),
    );
  });
});

describe('a token without a key', () => {
  const phone = { userAgent: 'App/1 (phone)', home: '203.0.113.7', train: '198.51.100.9' };

  async function newToken(): Promise<{ user: User; token: string; id: string }> {
    const user = await createUser(one);
    const { body } = await login(one, user, { model: 'Fairphone' });
    return { user, token: body.token ?? '', id: body.id };
  }

  /** Uses the token from an address, through a trusted proxy. */
  const use = async (token: string, userAgent: string, address: string, app = proxied) =>
    (
      await app.api('POST', '/v1/sessions', {
        basic: token,
        headers: { 'user-agent': userAgent, 'x-forwarded-for': address },
      })
    ).status;
  const reportsOf = async (user: User) => {
    const query = `filter=user_id:${user.id},type:token.shared`;
    return (await one.api<Event[]>('GET', `/admin/v1/events?${query}`, { bearer: one.adminKey })).body;
  };

  let proxied: TestApp;
  let second: TestApp;
  beforeAll(async () => {
    proxied = await one.another({ TRUST_PROXY: '127.0.0.1' });
    second = await one.another({ TRUST_PROXY: '127.0.0.1' });
  });
  afterAll(async () => {
    await proxied.close();
    await second.close();
  });

  test('that two clients use in turn is reported once a day, and both keep their sessions', async () => {
    const { user, token, id } = await newToken();
    const thief = () => use(token, 'curl/8', '192.0.2.44', second);
    const owner = () => use(token, phone.userAgent, phone.home);
    expect([await owner(), await thief()]).toEqual([201, 201]);
    expect(await reportsOf(user)).toEqual([]);
    expect(await owner()).toBe(201);
    const [event, ...more] = await reportsOf(user);
    expect(more).toEqual([]);
    expect(event?.data).toMatchObject({ authentication_id: id, other_network: '192.0.2.0/24' });
    const [notice] = await noticesOf(user);
    expect(notice).toMatchObject({ notification_key: 'token_shared' });
    expect(notice?.description).toContain('Two programs use the sign-in of one of your devices (Fairphone)');
    for (let round = 0; round < 3; round += 1) expect([await thief(), await owner()]).toEqual([201, 201]);
    expect(await reportsOf(user)).toHaveLength(1);
    expect(await noticesOf(user)).toHaveLength(1);
  });

  test('that one client uses in changing networks is not reported', async () => {
    const { user, token } = await newToken();
    for (const address of [phone.home, phone.train, phone.home, '2001:db8::7', phone.home, phone.train]) {
      expect(await use(token, phone.userAgent, address)).toBe(201);
    }
    expect(await reportsOf(user)).toEqual([]);
  });

  test('whose app is updated, in the same or in another network, is not reported', async () => {
    const { user, token } = await newToken();
    for (const [version, address] of [
      ['App/1', phone.home],
      ['App/2', phone.train],
      ['App/2', phone.home],
      ['App/3', phone.home],
      ['App/4', phone.train],
      ['App/4', phone.home],
    ] as const) {
      expect(await use(token, version, address)).toBe(201);
    }
    expect(await reportsOf(user)).toEqual([]);
  });

  test('that two programs behind one address use in turn is not reported', async () => {
    const { user, token } = await newToken();
    for (const agent of ['App/1', 'Widget/1', 'App/1', 'Widget/1']) {
      expect(await use(token, agent, phone.home)).toBe(201);
    }
    expect(await reportsOf(user)).toEqual([]);
  });

  test('is reported once if the client changes in many parallel requests', async () => {
    const { user, token } = await newToken();
    await use(token, phone.userAgent, phone.home);
    await use(token, 'curl/8', '192.0.2.44');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        use(token, phone.userAgent, phone.home, index % 2 === 0 ? proxied : second),
      ),
    );
    expect(new Set(answers)).toEqual(new Set([201]));
    expect(await reportsOf(user)).toHaveLength(1);
  });

  test('takes one statement for each session, also after an update of its app', async () => {
    const { token } = await newToken();
    const names = async (agent: string) =>
      (await queriesOf(() => use(token, agent, phone.home))).map(({ name }) => name);
    for (const agent of ['App/1', 'App/1', 'App/2', 'App/2']) expect(await names(agent)).toEqual(['session_create']);
  });
});
