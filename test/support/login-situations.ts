import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { User } from '../../src/contract/user.js';
import type { TestApp } from './app.js';
import { createFactors } from './factors.js';
import { type Instances, newAddress, type RightLogin } from './login-prediction.js';
import { testSql } from './sql.js';
import { createUser, login, newPhone, passwordLogin, smsLogin } from './users.js';

/** The title of a situation, a function that prepares it and returns the login, and the reasons for its refusal. */
export type Situation = readonly [title: string, prepare: () => Promise<RightLogin>, blockers: readonly string[]];

/** The steps that lead to the situations of logins. */
export function createSituations(instances: () => Instances) {
  const { person, enrolTotp, enrolPasskey } = createFactors(() => instances().base);
  const change = (user: User, body: object) =>
    instances().base.api('PATCH', `/admin/v1/users/${user.id}`, { bearer: instances().base.adminKey, body });
  const lock = (user: User, body: object) =>
    instances().base.api('POST', `/admin/v1/users/${user.id}/lock`, { bearer: instances().base.adminKey, body });
  const runSql = (text: string, values: unknown[]) => instances().base.database.query(testSql(text, values));
  const byName = (user: User): RightLogin => ({
    ...{ authenticator: 'password', userId: user.id, identity: { type: 'username', value: user.username } },
  });
  const bySms = (user: User): RightLogin => ({
    ...{ authenticator: 'sms', userId: user.id, identity: { type: 'phone', value: user.phone } },
  });
  const byMail = (user: User): RightLogin => ({
    ...{ authenticator: 'email', userId: user.id, identity: { type: 'email', value: user.email } },
  });
  const byPasskey = (user: User): RightLogin => ({ authenticator: 'passkey', userId: user.id });
  const byGoogle = (user: User): RightLogin => ({ authenticator: 'oidc:attic', userId: user.id });
  const newUser = (fields: object = {}) => createUser(instances().base, fields);
  const newUserWithPhone = () => newUser({ phone: newPhone() });
  /** Sends wrong secrets until the account is locked for a device. */
  const lockByGuesses = async ({ identity, deviceId, on = instances().base }: RightLogin) => {
    const body = { ...passwordLogin(null, 'wrong', deviceId ? { id: deviceId } : {}), identity };
    for (let times = 0; times < 3; times += 1) await on.api('POST', '/v1/tokens', { body });
  };
  /** Logs in on a new device, which makes it a known device, and returns its id. */
  const createKnownDevice = async (user: User) => {
    const deviceId = randomUUID();
    expect((await login(instances().base, user, { id: deviceId })).body.status).toBe('approved');
    return deviceId;
  };
  const byLinkedAccount = async (user: User) => {
    const subject = randomUUID();
    const body = { provider: 'attic', subject };
    const path = `/admin/v1/users/${user.id}/external-identities`;
    await instances().base.api('PUT', path, { bearer: instances().base.adminKey, body });
    return { ...byGoogle(user), subject };
  };
  const newUserWithApp = async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    return { user: who.user, totp: () => app.code() };
  };
  const startSms = async (on: TestApp, phone: string | null, address = newAddress()) =>
    on.api('POST', '/v1/tokens', { body: smsLogin(phone), headers: { 'x-forwarded-for': address } });
  return {
    ...{ person, enrolPasskey, change, lock, runSql, byName, bySms, byMail, byPasskey, byGoogle, newUser },
    ...{ newUserWithPhone, lockByGuesses, createKnownDevice, byLinkedAccount, newUserWithApp, startSms },
  };
}
