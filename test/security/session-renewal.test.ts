import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordedProof } from '../../src/sessions/operators.js';
import { byPassword } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { ageLogin, signInWithRole } from '../support/operators.js';
import { raceRounds } from '../support/rounds.js';
import { createUser, signIn } from '../support/users.js';

/** The instances of one service: one checks sessions in batches with a cache, the other one checks each by itself. */
let postern: TestApp;
let plain: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  plain = await postern.another({ DATABASE_BATCHING: 'false' });
});
afterAll(async () => {
  await plain.close();
  await postern.close();
});

const prove = (bearer: string) =>
  postern.api<RecordedProof>('PUT', '/v1/account/session-proof', { bearer, body: { proof: byPassword } });
const check = async (bearer: string, app = postern) =>
  (await app.api('POST', '/v1/sessions/verify', { bearer })).status;

describe('the session token after a fresh proof', () => {
  test.each(['cached', 'plain'])('is new, and the old one ends when the new one is first used (%s)', async (how) => {
    const app = how === 'plain' ? plain : postern;
    const { session } = await signIn(postern, await createUser(postern));
    const { status, body } = await prove(session.token);
    expect([status, Object.keys(body).sort()]).toEqual([200, ['expires_at', 'proven_at', 'token']]);
    expect(body.token).toMatch(/^pss_/);
    expect(body.token).not.toBe(session.token);
    // Requests that are on their way are still answered.
    expect([await check(session.token), await check(session.token, plain)]).toEqual([200, 200]);
    const used = await app.api<typeof session>('POST', '/v1/sessions/verify', { bearer: body.token });
    expect(used.body).toMatchObject({ user_id: session.user_id, device_id: session.device_id });
    expect(used.body.expires_at).toBe(session.expires_at);
    expect([await check(session.token), await check(session.token, plain)]).toEqual([401, 401]);
    expect([await check(body.token), await check(body.token, plain)]).toEqual([200, 200]);
  });

  test('the old one ends after 60 seconds, if the new one is never used', async () => {
    const { session, token } = await signIn(postern, await createUser(postern));
    await prove(session.token);
    const [former] = (
      await postern.api<{ id: string; expires_at: string }[]>('GET', `/admin/v1/users/${session.user_id}/sessions`, {
        bearer: postern.adminKey,
      })
    ).body.filter(({ id }) => id === session.id);
    const left = Date.parse(former?.expires_at ?? '') - Date.now();
    expect(left).toBeLessThanOrEqual(60_000);
    expect(left).toBeGreaterThan(30_000);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
  });

  test('a request of the administration is a first use too, and the new one has the proof', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    const { body } = await prove(operator.bearer);
    const key = { name: 'mine', scopes: ['users:read'] };
    const create = (bearer: string) => postern.api('POST', '/admin/v1/keys', { bearer, body: key });
    expect((await create(operator.bearer)).status).toBe(201);
    expect((await create(body.token)).status).toBe(201);
    expect((await create(operator.bearer)).status).toBe(401);
    expect(await check(operator.bearer, plain)).toBe(401);
  });

  test('first uses at the same moment on both instances succeed, and end the old one', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { session } = await signIn(postern, await createUser(postern));
      const { body } = await prove(session.token);
      const uses = await Promise.all(
        Array.from({ length: 8 }, (_, index) => check(body.token, index % 2 === 0 ? postern : plain)),
      );
      expect(uses).toEqual(Array.from({ length: 8 }, () => 200));
      expect([await check(session.token), await check(session.token, plain)]).toEqual([401, 401]);
    }
  });

  test('of parallel proofs, each answers with a token that works', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const answers = await Promise.all([prove(session.token), prove(session.token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of answers) expect(await check(body.token)).toBe(200);
    expect(await check(session.token)).toBe(401);
  });
});
