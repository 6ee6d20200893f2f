import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExternalIdentity } from '../../../../../src/contract/external-identity.js';
import type { User } from '../../../../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { createUser } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    OIDC_PROVIDERS: JSON.stringify({
      google: { issuer: 'https://accounts.google.com', client_ids: ['an-app'] },
      apple: { issuer: 'https://appleid.apple.com', client_ids: ['an-app'] },
      microsoft: { preset: 'microsoft', client_id: 'an-app', tenants: ['t-one', 't-two'] },
      contoso: { preset: 'microsoft', client_id: 'an-app', issuer: 'https://login.microsoftonline.com/t-one/v2.0' },
    }),
  });
});
afterAll(() => postern.close());

const path = (user: Pick<User, 'id'>) => `/admin/v1/users/${user.id}/external-identities`;
type Answered = ExternalIdentity & Pick<ProblemAnswer, 'errors'>;
const link = (user: Pick<User, 'id'>, body: object, bearer = postern.adminKey) =>
  postern.api<Answered>('PUT', path(user), { bearer, body });
const list = async (user: User) =>
  (await postern.api<ExternalIdentity[]>('GET', path(user), { bearer: postern.adminKey })).body;
const unlink = (user: User, id: string, bearer = postern.adminKey) =>
  postern.api('DELETE', `${path(user)}/${id}`, { bearer });
const keyWith = async (...scopes: string[]) => {
  const body = { name: 'a key', scopes };
  const answer = await postern.api<{ token: string }>('POST', '/admin/v1/keys', { bearer: postern.adminKey, body });
  return answer.body.token;
};

describe('operators', () => {
  test('link external identities to users, list them and unlink them', async () => {
    const user = await createUser(postern);
    const google = await link(user, { provider: 'google', subject: 's-1101' });
    expect(google.status).toBe(200);
    expect(google.body).toMatchObject({ provider: 'google', issuer: 'https://accounts.google.com', subject: 's-1101' });
    const apple = await link(user, { provider: 'apple', subject: 's-1101' });
    expect((await link(user, { provider: 'google', subject: 's-1101' })).body).toEqual(google.body);
    expect(await list(user)).toEqual([google.body, apple.body]);
    expect((await unlink(user, google.body.id)).status).toBe(204);
    expect((await unlink(user, google.body.id)).status).toBe(404);
    expect(await list(user)).toEqual([apple.body]);
    const { body } = await postern.api<{ type: string; data: object }[]>('GET', `/admin/v1/users/${user.id}/activity`, {
      bearer: postern.adminKey,
    });
    expect(body.map(({ type }) => type)).toEqual([
      'external_identity.unlinked',
      'external_identity.linked',
      'external_identity.linked',
      'user.created',
    ]);
    expect(JSON.stringify(body)).not.toContain('s-1101');
  });

  test('link an account of a Microsoft tenant, whose issuer each tenant has', async () => {
    const user = await createUser(postern);
    const account = { provider: 'microsoft', subject: randomUUID() };
    const errorsOf = async (body: object) =>
      (await link(user, body)).body.errors.map(({ field, code }) => `${field} ${code}`);
    expect(await errorsOf(account)).toEqual(['tenant required']);
    expect(await errorsOf({ ...account, tenant: 't-three' })).toEqual(['tenant tenant_not_listed']);
    expect(await errorsOf({ ...account, tenant: '../x' })).toEqual(['tenant invalid_format']);
    expect(await errorsOf({ ...account, provider: 'google', tenant: 't-one' })).toEqual(['tenant no_tenants']);
    const issuerOf = async (body: object) => (await link(user, body)).body.issuer;
    const issuer = 'https://login.microsoftonline.com/t-one/v2.0';
    expect(await issuerOf({ ...account, tenant: 't-one' })).toBe(issuer);
    expect(await issuerOf({ ...account, tenant: 't-two' })).toBe(issuer.replace('t-one', 't-two'));
    const single = { provider: 'contoso', subject: randomUUID() };
    expect(await issuerOf(single)).toBe(issuer);
    expect(await issuerOf({ ...single, tenant: 't-one' })).toBe(issuer);
    expect(await errorsOf({ ...single, tenant: 't-two' })).toEqual(['tenant no_tenants']);
  });

  test('cannot link one account to two users in parallel requests', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const users = await Promise.all(Array.from({ length: 4 }, () => createUser(postern, { password: undefined })));
      const subject = randomUUID();
      const answers = await Promise.all(users.map((user) => link(user, { provider: 'google', subject })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.errors[0]?.code).toBe('external_identity_taken');
    }
  });

  test('can link an account again as soon as its user was deleted', async () => {
    const [user, next] = [await createUser(postern), await createUser(postern)];
    const account = { provider: 'google', subject: randomUUID() };
    await link(user, account);
    await postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    expect((await link(next, account)).status).toBe(200);
    expect((await link(user, account)).status).toBe(404);
    const left = testSql('select 1 from external_identities where user_id = $1', [user.id]);
    expect(await postern.database.query(left)).toEqual([]);
  });

  test('leave no link behind when the user is deleted in parallel', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const user = await createUser(postern, { password: undefined });
      const account = { provider: 'google', subject: randomUUID() };
      const remove = postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
      const [linked] = await Promise.all([link(user, account), remove]);
      expect([200, 404]).toContain(linked.status);
      const left = testSql('select 1 from external_identities where user_id = $1', [user.id]);
      await eventually('no link to be left', async () =>
        (await postern.database.query(left)).length === 0 ? true : undefined,
      );
    }
  });

  test('need the scope users:write, and the scope admin for users with a role', async () => {
    const user = await createUser(postern);
    const operator = await createUser(postern, { role: 'operator' });
    const account = { provider: 'google', subject: randomUUID() };
    const [reads, writes] = [await keyWith('users:read'), await keyWith('users:read', 'users:write')];
    expect((await link(user, account, reads)).status).toBe(403);
    expect((await link(operator, account, writes)).status).toBe(403);
    expect((await link(user, account, writes)).status).toBe(200);
    const { body } = await link(operator, { ...account, provider: 'apple' });
    expect((await unlink(operator, body.id, writes)).status).toBe(403);
    expect((await unlink(operator, body.id)).status).toBe(204);
  });

  test.each([
    [{ provider: 'nobody', subject: '1' }, 'provider'],
    [{ provider: 'google', subject: '' }, 'subject'],
    [{ provider: 'google', subject: 'x'.repeat(256) }, 'subject'],
    [{ provider: 'google', subject: 'é' }, 'subject'],
    [{ provider: 'google', subject: 'a\0b' }, 'subject'],
    [{ provider: 'google', subject: 7 }, 'subject'],
    [{ subject: '1' }, 'provider'],
  ])('get 422 for %j', async (body, field) => {
    const answer = await link(await createUser(postern), body);
    expect([answer.status, answer.body.errors[0]?.field]).toEqual([422, field]);
  });

  test('get 404 for an unknown user or link', async () => {
    const user = await createUser(postern);
    const other = await createUser(postern);
    const { body } = await link(other, { provider: 'google', subject: randomUUID() });
    expect((await unlink(user, body.id)).status).toBe(404);
    expect((await unlink(user, 'rubbish')).status).toBe(404);
    expect((await link({ id: randomUUID() }, { provider: 'google', subject: '1' })).status).toBe(404);
    expect(await list(other)).toHaveLength(1);
  });
});
