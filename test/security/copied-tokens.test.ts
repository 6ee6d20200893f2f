import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../src/contract/administration.js';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { type BoundLogin, bindLogin, newProofKey, proofFor, requestSession } from '../support/dpop.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { createUser } from '../support/users.js';

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
    const left = await one.database.everyone.query(
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
    expect(notice?.description).toContain('a copy of the login of one of your devices (Fairphone)');
    // The owner goes on.
    const { body: session } = await requestSession(one, own.token, proofOf(own));
    const activity = await one.api<{ type: string; text: string }[]>('GET', '/v1/account/activity', {
      bearer: session.token,
    });
    expect(activity.body.map(({ type }) => type)).toContain('token.misused');
  });

  test('is reported again after an hour, and not more often', async () => {
    const { user, own } = await newOwner();
    const use = () => requestSession(one, own.token);
    await Promise.all(Array.from({ length: 20 }, use));
    expect(await misuses(user)).toHaveLength(1);
    await one.database.everyone.query(
      testSql(
        `update authentications set misuse_reported_at = misuse_reported_at - interval '61 minutes' where id = $1`,
        [own.authentication.id],
      ),
    );
    await Promise.all(Array.from({ length: 20 }, use));
    expect(await misuses(user)).toHaveLength(2);
  });

  test('is not reported for a request that only needs a new nonce, nor for an unknown token', async () => {
    const { user, own } = await newOwner();
    expect((await requestSession(one, own.token, proofOf(own, { nonce: undefined }))).status).toBe(401);
    await requestSession(one, own.token.replace(/.{8}$/, 'AAAAAAAA'));
    expect(await misuses(user)).toEqual([]);
  });

  test('with a mistake of the client’s own key is recorded, and the user gets no notice', async () => {
    const { user, own } = await newOwner();
    await requestSession(one, own.token, proofOf(own, { htm: 'GET' }));
    expect((await misuses(user)).map(({ data }) => data?.cause)).toEqual(['invalid_proof']);
    expect(await noticesOf(user)).toEqual([]);
  });
});

describe('a proof', () => {
  test('works once among many parallel requests to two instances, in each of 20 rounds', async () => {
    const { user, own } = await newOwner();
    for (let round = 0; round < 20; round += 1) {
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
      expect((await requestSession(one, own.token, proofOf(own))).body.errors?.[0]?.code).toBe('invalid_dpop_proof');
      const ahead = proofOf(own, { iat: Date.now() / 1000 + 600 });
      expect((await requestSession(one, own.token, ahead)).status).toBe(201);
      await stepClock(one.database, '31 minutes');
      const late = proofOf(own, { iat: Date.now() / 1000 + 1860 });
      expect((await requestSession(one, own.token, late)).body.errors?.[0]?.code).toBe('use_dpop_nonce');
    } finally {
      await stepClock(one.database, '0');
    }
  });

  test('of another user’s token with the same nonce has no effect', async () => {
    const { own: mine } = await newOwner();
    const { own: theirs } = await newOwner();
    expect((await requestSession(one, theirs.token, proofOf(mine))).status).toBe(401);
    expect((await requestSession(one, theirs.token, proofOf({ ...theirs, nonce: mine.nonce }))).status).toBe(201);
  });
});

describe('parallel sessions of bound and other tokens', () => {
  test('need a proof for the bound ones only', async () => {
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
