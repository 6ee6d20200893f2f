import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import { type ApiAnswer, startTestApp, type TestApp } from '../support/app.js';
import { raceRounds } from '../support/rounds.js';
import { createUser, login } from '../support/users.js';

let one: TestApp;
let other: TestApp;
beforeAll(async () => {
  one = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000' });
  other = await one.another();
});
afterAll(async () => {
  await other.close();
  await one.close();
});

interface Person {
  readonly user: User;
  readonly authentication: Authentication;
  readonly token: string;
  readonly session: NewSession;
}

const newSession = ({ api }: TestApp, token: string) => api<NewSession>('POST', '/v1/sessions', { basic: token });
const verify = ({ api }: TestApp, token: string) => api('POST', '/v1/sessions/verify', { bearer: token });

async function newPerson(): Promise<Person> {
  const user = await createUser(one);
  const { body: authentication } = await login(one, user);
  const token = authentication.token ?? '';
  return { user, authentication, token, session: (await newSession(one, token)).body };
}

interface Revocation {
  readonly what: string;
  readonly revoke: (person: Person) => Promise<ApiAnswer<unknown>>;
  /** The response of POST /v1/sessions afterwards. */
  readonly refusal: number;
  /** Whether a login that started before and completes afterwards must fail or return an invalid token. */
  readonly endsLogins: boolean;
}

const asOperator =
  (method: string, path: string, body?: object) =>
  ({ user }: Person) =>
    one.api(method, `/admin/v1/users/${user.id}${path}`, {
      bearer: one.adminKey,
      ...(body === undefined ? {} : { body }),
    });

const revocations: readonly Revocation[] = [
  {
    what: 'a deleted token',
    revoke: ({ authentication, session }) =>
      one.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token }),
    refusal: 401,
    endsLogins: false,
  },
  {
    what: 'a logout',
    revoke: ({ token }) => one.api('DELETE', '/v1/tokens', { basic: token }),
    refusal: 401,
    endsLogins: false,
  },
  {
    what: 'a removed device',
    revoke: ({ authentication, session }) =>
      one.api('DELETE', `/v1/devices/${authentication.device_id}`, { bearer: session.token }),
    refusal: 401,
    endsLogins: false,
  },
  {
    what: 'a device removed by an operator',
    revoke: (person) => asOperator('DELETE', `/devices/${person.authentication.device_id}`)(person),
    refusal: 401,
    endsLogins: false,
  },
  { what: 'an operator’s logout', revoke: asOperator('POST', '/logout'), refusal: 401, endsLogins: false },
  { what: 'a lock', revoke: asOperator('POST', '/lock', { permanent: true }), refusal: 403, endsLogins: true },
  {
    what: 'a changed password',
    revoke: asOperator('PATCH', '', { password: 'a stable of batteries' }),
    refusal: 401,
    endsLogins: true,
  },
  {
    what: 'a deactivated user',
    revoke: asOperator('PATCH', '', { status: 'deactivated' }),
    refusal: 400,
    endsLogins: true,
  },
  { what: 'a deleted user', revoke: asOperator('DELETE', ''), refusal: 401, endsLogins: true },
];

/** Checks that none of these works any longer, on any instance. */
async function expectRevoked(tokens: readonly string[], sessions: readonly string[], refusals: readonly number[]) {
  for (const instance of [other, one]) {
    const verified = await Promise.all(sessions.map(async (session) => (await verify(instance, session)).status));
    expect(verified).toEqual(sessions.map(() => 401));
    const opened = await Promise.all(tokens.map(async (token) => (await newSession(instance, token)).status));
    expect(opened.filter((status) => !refusals.includes(status))).toEqual([]);
  }
}

describe.each(revocations)('$what', ({ revoke, refusal, endsLogins }) => {
  test('takes effect on the next request, also on another instance', async () => {
    const person = await newPerson();
    expect((await verify(other, person.session.token)).status).toBe(200);
    expect((await revoke(person)).status).toBeLessThan(300);
    expect((await verify(other, person.session.token)).status).toBe(401);
    expect((await newSession(other, person.token)).status).toBe(refusal);
    await expectRevoked([person.token], [person.session.token], [refusal]);
  });

  test(`leaves no valid session or token that was created in parallel, ${raceRounds} times`, async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const person = await newPerson();
      const { user, token, session } = person;
      const race = () =>
        [one, other].map((instance) => ({
          opening: newSession(instance, token),
          verifying: verify(instance, session.token),
        }));
      const loggingIn = endsLogins ? [one, other].map((instance) => login(instance, user)) : [];
      const startedBefore = race();
      const revoking = revoke(person);
      const racing = [...startedBefore, ...race(), ...race()];
      expect((await revoking).status).toBeLessThan(300);
      // It takes effect from here on, even if requests of the race still run.
      expect((await verify(other, session.token)).status).toBe(401);

      for (const { verifying } of racing) expect([200, 401]).toContain((await verifying).status);
      const opened = await Promise.all(racing.map(({ opening }) => opening));
      for (const { status } of opened) expect([201, refusal]).toContain(status);
      const newTokens = (await Promise.all(loggingIn)).map(({ body }) => body.token);
      const sessions = opened.filter(({ status }) => status === 201).map(({ body }) => body.token);
      const tokens = [token, ...newTokens.filter((text) => text !== undefined)];
      await expectRevoked(tokens, [session.token, ...sessions], [refusal]);
    }
  });
});

test('unlocking restores the sessions that the lock suspended, but no deleted token', async () => {
  const kept = await newPerson();
  const { body: second } = await login(one, kept.user);
  await one.api('DELETE', `/v1/tokens/${second.id}`, { bearer: kept.session.token });
  await asOperator('POST', '/lock', { permanent: true })(kept);
  expect((await verify(other, kept.session.token)).status).toBe(401);
  await asOperator('POST', '/unlock')(kept);
  expect((await verify(other, kept.session.token)).status).toBe(200);
  expect((await newSession(other, second.token ?? '')).status).toBe(401);
});
