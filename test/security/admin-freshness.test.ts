import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { byPassword } from '../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { openLineStream } from '../support/ndjson-stream.js';
import { ageLogin, signInWithRole } from '../support/operators.js';
import { testSql } from '../support/sql.js';
import { createUser, newEmail, newPhone, password } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const stale = [403, 'fresh_proof_required'];

/** Actions that would let an attacker with a stolen session keep access. */
const privileged = (user: User) =>
  [
    ['POST', '/admin/v1/keys', { name: 'mine', scopes: ['admin'] }],
    ['POST', '/admin/v1/users', { username: 'another.operator', role: 'support' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { role: 'support' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { password: 'taken over by a thief' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { pin: '2468' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { second_factor: 'off' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { email: newEmail() }],
    ['PATCH', `/admin/v1/users/${user.id}`, { phone: newPhone() }],
    ['PATCH', `/admin/v1/users/${user.id}`, { status: 'active' }],
    ['POST', `/admin/v1/users/${user.id}/unlock`, undefined],
    ['DELETE', `/admin/v1/users/${user.id}/second-factors`, undefined],
    ['POST', `/admin/v1/users/${user.id}/enrollment-links`, undefined],
    ['POST', '/admin/v1/set-up-links', { role: 'operator' }],
    ['POST', '/admin/v1/webhooks', { url: 'https://thief.example/', events: ['*'], payload: 'full' }],
    ['PATCH', `/admin/v1/webhooks/${user.id}`, { url: 'https://thief.example/' }],
    ['POST', `/admin/v1/webhooks/${user.id}/rotate-secret`, undefined],
    [
      'POST',
      '/admin/v1/test-identities',
      { identity: { type: 'phone', value: '+15551234567' }, expires_at: '2030-01-01T00:00:00Z' },
    ],
  ] as const;

describe('with a session whose login is older than ADMIN_PROOF_MAX_AGE', () => {
  test('privileged actions are refused and change nothing, and all other actions work', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern, { role: 'support' });
    await ageLogin(postern, operator.user.id, 14);
    expect(await operator.codeOf('PATCH', `/admin/v1/users/${user.id}`, { pin: '1357' })).toEqual([200, undefined]);
    await ageLogin(postern, operator.user.id, 2);
    const before = await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    for (const [method, path, body] of privileged(user)) {
      expect([path, body, ...(await operator.codeOf(method, path, body))]).toEqual([path, body, ...stale]);
    }
    const after = await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    expect(after.body).toEqual(before.body);
    expect((await operator.call('GET', '/admin/v1/users')).status).toBe(200);
    expect((await operator.call('PATCH', `/admin/v1/users/${user.id}`, { name: 'Ada' })).status).toBe(200);
    expect((await operator.call('POST', `/admin/v1/users/${user.id}/lock`, { permanent: true })).status).toBe(200);
  });

  test('an import is refused', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    const response = await fetch(`${postern.url}/admin/v1/users/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operator.bearer}`, 'content-type': 'application/x-ndjson' },
      body: '{"username": "imported.operator", "role": "operator"}\n',
    });
    const { errors } = (await response.json()) as ProblemAnswer;
    expect([response.status, errors[0]?.code]).toEqual(stale);
  });

  test.each([
    ['lost its role', 'insufficient_scope', 403],
    ['became too old', 'fresh_proof_required', 403],
  ])('a running import ends at its next item after the session %s', async (what, code, status) => {
    const operator = await signInWithRole(postern, 'operator');
    const stream = openLineStream({ url: postern.url, adminKey: operator.bearer }, { path: '/admin/v1/users/import' });
    const line = () => `${JSON.stringify({ username: `u${randomUUID()}`, role: 'support' })}\n`;
    await stream.send(line());
    expect(await stream.next()).toMatchObject({ line: 1, result: 'created' });
    if (what === 'became too old') await ageLogin(postern, operator.user.id, 16);
    else {
      const path = `/admin/v1/users/${operator.user.id}`;
      expect((await postern.api('PATCH', path, { bearer: postern.adminKey, body: { role: 'support' } })).status).toBe(
        200,
      );
    }
    await stream.send(line());
    expect(await stream.next()).toMatchObject({ status, code, committed_lines: 1 });
    stream.destroy();
  });

  test('a proof makes the session fresh again, and no other session', async () => {
    const operator = await signInWithRole(postern, 'support');
    const user = await createUser(postern);
    await ageLogin(postern, operator.user.id, 16);
    const change = { password: 'nine dull horses' };
    const path = `/admin/v1/users/${user.id}`;
    expect(await operator.codeOf('PATCH', path, change)).toEqual(stale);
    const wrong = { proof: { type: 'password', secret: 'a wrong password' } };
    expect(await operator.codeOf('PUT', '/v1/account/session-proof', wrong)).toEqual([400, 'proof_rejected']);
    expect(await operator.codeOf('PATCH', path, change)).toEqual(stale);
    const { status, body } = await postern.api<{ proven_at: string; expires_at: string }>(
      'PUT',
      '/v1/account/session-proof',
      { bearer: operator.bearer, body: { proof: byPassword } },
    );
    expect(status).toBe(200);
    expect(Date.parse(body.expires_at) - Date.parse(body.proven_at)).toBeGreaterThan(60_000);
    expect(await operator.codeOf('PATCH', path, change)).toEqual([200, undefined]);
    await ageLogin(postern, operator.user.id, 16);
    expect(await operator.codeOf('PATCH', path, change)).toEqual(stale);
    const events = await postern.api<{ type: string }[]>('GET', `/admin/v1/users/${operator.user.id}/activity`, {
      bearer: postern.adminKey,
    });
    expect(events.body.map(({ type }) => type)).toContain('session.proven');
  });

  test('a login with a future time is not fresh, and the refusal names the route for proofs', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, -60);
    const { body } = await postern.api<ProblemAnswer & { detail: string }>('POST', '/admin/v1/keys', {
      bearer: operator.bearer,
      body: { name: 'mine', scopes: ['admin'] },
    });
    expect(body.errors[0]?.code).toBe('fresh_proof_required');
    expect(body.detail).toContain('/v1/account/session-proof');
  });

  test('a change of the user’s own password counts as a proof too', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    const key = { name: 'mine', scopes: ['users:read'] };
    expect(await operator.codeOf('POST', '/admin/v1/keys', key)).toEqual(stale);
    const changed = { password: `${password} and more`, proof: byPassword };
    expect((await operator.call('PUT', '/v1/account/password', changed)).status).toBe(200);
    expect(await operator.codeOf('POST', '/admin/v1/keys', key)).toEqual([201, undefined]);
  });
});

test('API keys need no re-authentication', async () => {
  const user = await createUser(postern);
  const { status } = await postern.api('PATCH', `/admin/v1/users/${user.id}`, {
    bearer: postern.adminKey,
    body: { role: 'support', password: 'nine dull horses' },
  });
  expect(status).toBe(200);
});

test('ADMIN_PROOF_MAX_AGE sets the maximum age, by the database’s clock', async () => {
  const strict = await postern.another({ ADMIN_PROOF_MAX_AGE: '1h' });
  const operator = await signInWithRole(strict, 'operator');
  const key = { name: 'mine', scopes: ['users:read'] };
  await ageLogin(postern, operator.user.id, 59);
  expect(await operator.codeOf('POST', '/admin/v1/keys', key)).toEqual([201, undefined]);
  await ageLogin(postern, operator.user.id, 2);
  expect(await operator.codeOf('POST', '/admin/v1/keys', key)).toEqual(stale);
  const [row] = await postern.database.query<{ made: number }>(
    testSql(`select count(*)::int as made from events where type = 'key.created' and actor = $1`, [
      `user:${operator.user.id}`,
    ]),
  );
  expect(row?.made).toBe(1);
  await strict.close();
});
