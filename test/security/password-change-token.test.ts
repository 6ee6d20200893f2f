import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import { byPassword } from '../support/account.js';
import type { ProblemAnswer, TestApp } from '../support/app.js';
import { startTestApp } from '../support/app.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser, signIn } from '../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

interface Changed {
  readonly id: string;
  readonly username: string;
  readonly token: string;
  readonly authentication_id: string;
}

const newPassword = 'nine dull horses';

const sessionOf = (app: TestApp, basic: string) => app.api<NewSession>('POST', '/v1/sessions', { basic });
const isValid = async (app: TestApp, bearer: string) =>
  (await app.api('POST', '/v1/sessions/verify', { bearer })).status === 200;
const change = (bearer: string, password = newPassword) =>
  postern.api<Changed & ProblemAnswer>('PUT', '/v1/account/password', {
    bearer,
    body: { password, proof: byPassword },
  });

describe('a change of the password', () => {
  test('gives the calling login a new token, and the old token stops working on every instance', async () => {
    const user = await createUser(postern);
    const { authentication, token, session } = await signIn(postern, user, { model: 'Phone' });
    const { status, body, headers } = await change(session.token);
    expect([status, body.id, body.username]).toEqual([200, user.id, user.username]);
    expect(headers['cache-control']).toContain('no-store');
    expect(body.token).toMatch(/^psa_[\w-]{80}$/);
    expect(body.token).not.toBe(token);
    for (const app of [postern, other]) {
      expect((await sessionOf(app, token)).status).toBe(401);
      const renewed = await sessionOf(app, body.token);
      expect([renewed.status, renewed.body.device_id]).toEqual([201, session.device_id]);
      expect(await isValid(app, renewed.body.token)).toBe(true);
      expect(await isValid(app, session.token)).toBe(true);
    }
    const newLogin = await postern.api<Authentication>('GET', `/v1/tokens/${body.authentication_id}`);
    expect(newLogin.body).toMatchObject({ id: body.authentication_id, status: 'approved' });
    expect((await postern.api('GET', `/v1/tokens/${authentication.id}`)).status).toBe(404);
  });

  test('ends the other sessions of the old token, and keeps the expiry of the login', async () => {
    const user = await createUser(postern);
    const { authentication, token, session } = await signIn(postern, user);
    const stolen = await sessionOf(postern, token);
    expect(await isValid(other, stolen.body.token)).toBe(true);
    const { body } = await change(session.token);
    expect(await isValid(other, stolen.body.token)).toBe(false);
    expect(await isValid(postern, stolen.body.token)).toBe(false);
    const [row] = await postern.database.query<{ text: string; expires_at: string }>(
      testSql('select a::text as text, expires_at from authentications a where user_id = $1 and id = $2', [
        user.id,
        body.authentication_id,
      ]),
    );
    expect(row?.expires_at).toBe(authentication.expires_at);
    expect(row?.text).not.toContain(body.token);
    const removal = { bearer: session.token };
    expect((await postern.api('DELETE', `/v1/tokens/${authentication.id}`, removal)).status).toBe(401);
    expect((await postern.api('DELETE', `/v1/tokens/${body.authentication_id}`, removal)).status).toBe(200);
    expect((await sessionOf(postern, body.token)).status).toBe(401);
    expect(await isValid(other, session.token)).toBe(false);
  });

  test('leaves no session of the old token, even if some are requested in parallel', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const user = await createUser(postern);
      const { token, session } = await signIn(postern, user);
      const [changed, ...requested] = await Promise.all([
        change(session.token),
        ...Array.from({ length: 20 }, (_, index) => sessionOf(index % 2 === 0 ? postern : other, token)),
      ]);
      expect(changed?.status).toBe(200);
      const made = requested.flatMap(({ body }) => (body.token === undefined ? [] : [body.token]));
      expect(await Promise.all(made.map((bearer) => isValid(postern, bearer)))).toEqual(made.map(() => false));
      expect((await sessionOf(other, token)).status).toBe(401);
    }
  });

  test('succeeds for one of two parallel requests in one session, and its token works', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const user = await createUser(postern);
      const { session } = await signIn(postern, user);
      const answers = await Promise.all([
        change(session.token, `${newPassword} 1`),
        change(session.token, newPassword),
      ]);
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect((await sessionOf(postern, won[0]?.body.token ?? '')).status).toBe(201);
      expect(await isValid(postern, session.token)).toBe(true);
    }
  });

  test('lets a client that lost the response keep its session and log in with the new password', async () => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    await change(session.token);
    expect((await sessionOf(postern, token)).status).toBe(401);
    expect(await isValid(postern, session.token)).toBe(true);
    const again = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: {
        identity: { type: 'username', value: user.username },
        authenticator: 'password',
        secret: newPassword,
        device: { id: session.device_id },
      },
    });
    expect((await sessionOf(postern, again.body.token ?? '')).status).toBe(201);
  });
});
