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

/** Admin requests that do more than read and need no recent proof, each with the reason why. */
const withoutProof: Readonly<Record<string, string>> = {
  'POST /admin/v1/users/find': 'reads',
  'POST /admin/v1/suppressions/find': 'reads',
  'DELETE /admin/v1/suppressions/{id}': 'lets mails arrive again, and can be undone',
  'POST /admin/v1/login-diagnosis': 'reads',
  'POST /admin/v1/notifications/dry-run': 'reads',
  'POST /admin/v1/users/{id}/logout': 'takes rights away, and the user logs in again',
  'DELETE /admin/v1/users/{id}/devices/{device_id}': 'takes rights away, and the user logs in again',
  'DELETE /admin/v1/users/{id}/support-logins/{login_id}': 'takes rights away',
  'DELETE /admin/v1/users/{id}/pin-recovery': 'protects the user',
  'POST /admin/v1/outbox/{id}/retry': 'sends what the user asked for',
  'PATCH /admin/v1/notifications/{id}': 'changes one message to one user',
  'POST /admin/v1/images': 'stores an image that nobody sees yet',
  'POST /admin/v1/webhooks/{id}/test': 'sends an example, with no data of users',
  'POST /admin/v1/login-providers/{name}/tests': 'logs nobody in, and links nothing',
  'POST /admin/v1/backups': 'writes to the place that the configuration names',
  'POST /admin/v1/backups/{id}/verify': 'reads',
  'POST /admin/v1/categories/{name}/preview': 'reads',
  'POST /admin/v1/categories/{name}/simulate': 'reads',
  'POST /admin/v1/publications/dry-run': 'reads',
  'POST /admin/v1/publications/{id}/pause': 'sends less, and can be undone',
  'POST /admin/v1/publications/{id}/resume': 'continues what a proof has started',
  'POST /admin/v1/publications/{id}/cancel': 'sends less',
  'PUT /admin/v1/topics/{key}': 'sends nothing',
  'PUT /admin/v1/topics/{key}/subscriptions/{user}': 'sends nothing, and can be undone',
  'DELETE /admin/v1/topics/{key}/subscriptions/{user}': 'sends nothing, and can be undone',
  'POST /admin/v1/topics/{key}/subscriptions': 'sends nothing, and can be undone',
};

/** Admin requests that need a recent proof only for some bodies. `actionsWithProof` has these. */
const withConditions = [
  'PATCH /admin/v1/users/{id}',
  'POST /admin/v1/notifications',
  'POST /admin/v1/notifications/batch',
  'POST /admin/v1/notifications/ndjson',
  'POST /admin/v1/publications',
  'POST /admin/v1/users',
  'POST /admin/v1/users/{id}/lock',
  'PUT /admin/v1/channels/{name}',
];

/** Actions that give lasting access, that cannot be undone, or that reach many users. */
const actionsWithProof = (user: User) =>
  [
    ['POST', '/admin/v1/keys', { name: 'mine', scopes: ['admin'] }],
    ['POST', '/admin/v1/users', { username: 'another.operator', role: 'support' }],
    ['POST', '/admin/v1/users', { username: 'another.editor', roles: ['editor'] }],
    ['PATCH', `/admin/v1/users/${user.id}`, { role: 'support' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { roles: { add: ['editor'] } }],
    ['PATCH', `/admin/v1/users/${user.id}`, { claims: { plan: 'pro' } }],
    ['PATCH', `/admin/v1/users/${user.id}`, { password: 'taken over by a thief' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { pin: null }],
    ['PATCH', `/admin/v1/users/${user.id}`, { second_factor: 'off' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { email: newEmail() }],
    ['PATCH', `/admin/v1/users/${user.id}`, { phone: newPhone() }],
    ['PATCH', `/admin/v1/users/${user.id}`, { username: `u${randomUUID()}` }],
    ['PATCH', `/admin/v1/users/${user.id}`, { status: 'active' }],
    ['PATCH', `/admin/v1/users/${user.id}`, { status: 'deactivated' }],
    ['POST', `/admin/v1/users/${user.id}/lock`, { permanent: true }],
    ['PUT', '/admin/v1/channels/email', { paused: false }],
    ['POST', '/admin/v1/notifications', [message(user.id), message(randomUUID())]],
    ['POST', '/admin/v1/notifications', { ...message(undefined), user_ids: [user.id, randomUUID()] }],
    ['POST', '/admin/v1/notifications/batch', [message(user.id), message(randomUUID())]],
    ['POST', '/admin/v1/publications', { to: { user_ids: [user.id] }, notification: message(undefined) }],
  ] as const;

const message = (userId: string | undefined) => ({
  ...(userId !== undefined && { user_id: userId }),
  notification_type: 'payment',
  description: 'You were paid',
});

interface DocumentedOperation {
  readonly description?: string;
}

/** The operations of the administration, each with what the document says about it. */
async function adminOperations(): Promise<[string, string][]> {
  const { body } = await postern.api<{ paths: Record<string, Record<string, DocumentedOperation>> }>(
    'GET',
    '/openapi.json',
  );
  return Object.entries(body.paths)
    .filter(([path]) => path.startsWith('/admin/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { description = '' }]): [string, string] => [
        `${method.toUpperCase()} ${path}`,
        description,
      ]),
    );
}

describe('the operations of the administration', () => {
  test('each that does more than read is named here, with whether it needs a recent proof', async () => {
    const operations = await adminOperations();
    const isChange = ([name]: [string, string]) => !name.startsWith('GET ');
    const needsProof = ([, description]: [string, string]) => description.includes('ADMIN_PROOF_MAX_AGE');
    const namesOf = (some: [string, string][]) => some.map(([name]) => name).sort();
    expect(namesOf(operations.filter((one) => isChange(one) && !needsProof(one)))).toEqual(
      Object.keys(withoutProof).sort(),
    );
    expect(namesOf(operations.filter((one) => !isChange(one) && needsProof(one)))).toEqual([
      'GET /admin/v1/users/{id}/export',
      'GET /admin/v1/users/{id}/support-logins/{login_id}',
    ]);
    const conditional = operations.filter(([, description]) => / ADMIN_PROOF_MAX_AGE if /.test(description));
    expect(namesOf(conditional)).toEqual(withConditions);
  });

  test('those that always need one refuse an old login before they read the request', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    const operations = await adminOperations();
    const always = operations.filter(([, description]) => / ADMIN_PROOF_MAX_AGE\./.test(description));
    expect(always.length).toBeGreaterThan(20);
    for (const [name] of always) {
      const [method = '', path = ''] = name.split(' ');
      const answer = await operator.codeOf(method, path.replace(/\{\w+\}/g, randomUUID()));
      expect([name, ...answer]).toEqual([name, ...stale]);
    }
  });
});

describe('with a session whose login is older than ADMIN_PROOF_MAX_AGE', () => {
  test('the actions that need a proof are refused and change nothing, and all other actions work', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    await ageLogin(postern, operator.user.id, 14);
    expect(await operator.codeOf('PATCH', `/admin/v1/users/${user.id}`, { pin: null })).toEqual([200, undefined]);
    await ageLogin(postern, operator.user.id, 2);
    const before = await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    for (const [method, path, body] of actionsWithProof(user)) {
      expect([path, body, ...(await operator.codeOf(method, path, body))]).toEqual([path, body, ...stale]);
    }
    const after = await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    expect(after.body).toEqual(before.body);
    expect((await operator.call('GET', '/admin/v1/users')).status).toBe(200);
    expect((await operator.call('PATCH', `/admin/v1/users/${user.id}`, { name: 'Ada' })).status).toBe(200);
    const until = new Date(Date.now() + 60_000).toISOString();
    expect((await operator.call('POST', `/admin/v1/users/${user.id}/lock`, { until })).status).toBe(200);
    const toOne = [message(user.id), message(user.id)];
    expect((await operator.call('POST', '/admin/v1/notifications', toOne)).status).toBe(201);
    expect((await operator.call('POST', '/admin/v1/notifications?dry_run=true', [message(user.id)])).status).toBe(200);
  });

  test('a proof makes all of these possible', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    expect((await operator.call('PUT', '/v1/account/session-proof', { proof: byPassword })).status).toBe(200);
    const user = await createUser(postern);
    for (const [method, path, body] of actionsWithProof(user)) {
      const [, code] = await operator.codeOf(method, path, body);
      expect([path, body, code]).not.toEqual([path, body, 'fresh_proof_required']);
    }
  });

  test('an NDJSON request to publish is refused, because it may have any number of lines', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    const user = await createUser(postern);
    const publish = async (path: string) => {
      const response = await fetch(`${postern.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operator.bearer}`, 'content-type': 'application/x-ndjson' },
        body: `${JSON.stringify(message(user.id))}\n`,
      });
      return response.status;
    };
    expect(await publish('/admin/v1/notifications')).toBe(403);
    expect(await publish('/admin/v1/notifications/ndjson')).toBe(403);
    expect(await publish('/admin/v1/notifications/ndjson?dry_run=true')).toBe(200);
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
