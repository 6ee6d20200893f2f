import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { signInWithRole as signInWithRoleIn } from '../../../../support/operators.js';
import { createUser } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const signInWithRole = (role: User['role'], factor?: string | null) => signInWithRoleIn(postern, role, factor);

describe('a session has admin rights', () => {
  test('for everything with the role operator and a second factor', async () => {
    const { user, call } = await signInWithRole('operator');
    const other = await createUser(postern);
    expect((await call('GET', '/admin/v1/users')).status).toBe(200);
    expect((await call('GET', '/admin/v1/keys')).status).toBe(200);
    expect((await call('POST', `/admin/v1/users/${other.id}/lock`, { permanent: true })).status).toBe(200);
    const { body } = await postern.api<{ type: string; actor: string }[]>(
      'GET',
      `/admin/v1/events?filter=user_id:eq:${other.id},type:eq:user.locked`,
      { bearer: postern.adminKey },
    );
    expect(body.map(({ actor }) => actor)).toEqual([`user:${user.id}`]);
  });

  test('not after a login with one factor, for any role', async () => {
    for (const role of ['operator', 'support'] as const) {
      const { codeOf } = await signInWithRole(role, null);
      expect(await codeOf('GET', '/admin/v1/users')).toEqual([403, 'second_factor_required']);
    }
  });

  test('not without a role', async () => {
    const { user, codeOf } = await signInWithRole('user');
    expect(await codeOf('GET', '/admin/v1/users')).toEqual([401, 'invalid_api_key']);
    expect(await codeOf('GET', `/admin/v1/users/${user.id}`)).toEqual([401, 'invalid_api_key']);
  });

  test('not after its user has lost the role, is locked or is logged out', async () => {
    for (const [path, body, expected] of [
      ['', { role: 'user' }, [401, 'invalid_api_key']],
      ['/lock', { permanent: true }, [401, 'invalid_session_token']],
      ['/logout', undefined, [401, 'invalid_session_token']],
    ] as const) {
      const { user, codeOf } = await signInWithRole('operator');
      const act = { bearer: postern.adminKey, ...(body && { body }) };
      await postern.api(path === '' ? 'PATCH' : 'POST', `/admin/v1/users/${user.id}${path}`, act);
      expect(await codeOf('GET', '/admin/v1/users')).toEqual(expected);
    }
  });

  test('with the role support for users without a role only', async () => {
    const support = await signInWithRole('support');
    const user = await createUser(postern);
    const operator = await createUser(postern, { role: 'operator' });
    expect((await support.call('POST', `/admin/v1/users/${user.id}/unlock`)).status).toBe(200);
    expect((await support.call('POST', `/admin/v1/users/${user.id}/logout`)).status).toBe(200);
    const denied = [403, 'insufficient_scope'];
    expect(await support.codeOf('GET', '/admin/v1/keys')).toEqual(denied);
    expect(await support.codeOf('PATCH', `/admin/v1/users/${support.user.id}`, { role: 'operator' })).toEqual(denied);
    for (const [method, path, body] of [
      ['POST', '/lock', { permanent: true }],
      ['POST', '/unlock', undefined],
      ['POST', '/logout', undefined],
      ['PATCH', '', { password: 'taken over by support' }],
      ['DELETE', `/devices/${randomUUID()}`, undefined],
      ['DELETE', '', undefined],
    ] as const) {
      expect(await support.codeOf(method, `/admin/v1/users/${operator.id}${path}`, body)).toEqual(denied);
    }
    const { status } = await postern.api('GET', `/admin/v1/users/${operator.id}`, { bearer: postern.adminKey });
    expect(status).toBe(200);
  });
});
