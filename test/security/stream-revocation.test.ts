import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { User } from '../../src/contract/user.js';
import { type ApiAnswer, startTestApp, type TestApp } from '../support/app.js';
import { type EventStream, endOf, openStream } from '../support/event-stream.js';
import { testSql } from '../support/sql.js';
import { createUser, password, signIn } from '../support/users.js';

/** In milliseconds. Streams should end within a second; the rest is for a busy machine. */
const longest = 2000;
/** How often a busy machine may be late. A stream that ends for another reason is late each time. */
const tries = 5;

let one: TestApp;
let other: TestApp;
beforeAll(async () => {
  one = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
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
  readonly session: { readonly token: string };
}

const asOperator =
  (method: string, path: string, body?: object) =>
  ({ user }: Person) =>
    one.api(method, `/admin/v1/users/${user.id}${path}`, {
      bearer: one.adminKey,
      ...(body === undefined ? {} : { body }),
    });

const revocations: readonly (readonly [string, (person: Person) => Promise<ApiAnswer<unknown>>])[] = [
  [
    'a deleted token',
    ({ authentication, session }) => one.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token }),
  ],
  ['a logout', ({ token }) => one.api('DELETE', '/v1/tokens', { basic: token })],
  [
    'a removed device',
    ({ authentication, session }) =>
      one.api('DELETE', `/v1/devices/${authentication.device_id}`, { bearer: session.token }),
  ],
  ['an operator’s logout', asOperator('POST', '/logout')],
  ['a lock', asOperator('POST', '/lock', { permanent: true })],
  ['a changed password', asOperator('PATCH', '', { password: 'a stable of batteries' })],
  [
    'a password changed on another device',
    async ({ user }) => {
      const { session } = await signIn(one, user);
      const body = { password: 'a stable of batteries', proof: { type: 'password', secret: password } };
      return one.api('PUT', '/v1/account/password', { bearer: session.token, body });
    },
  ],
  [
    'an account deleted by its owner',
    ({ session }) =>
      one.api('DELETE', '/v1/account', {
        ...{ bearer: session.token, body: { proof: { type: 'password', secret: password } } },
      }),
  ],
  ['a deactivated user', asOperator('PATCH', '', { status: 'deactivated' })],
  ['a deleted user', asOperator('DELETE', '')],
];

/** Kills the connection that listens for signals, repeatedly until it is stopped. */
function suppressSignals() {
  let isOver = false;
  const kill = testSql(`select pg_terminate_backend(pid) from pg_stat_activity
                    where application_name = 'postern signals' and datname = current_database()`);
  const killing = (async () => {
    while (!isOver) await one.database.query(kill);
  })();
  return async () => {
    isOver = true;
    await killing;
  };
}

describe('the streams of a login, on two instances and without any signal,', () => {
  test.each(revocations)('end within moments after %s, and no other streams end', async (_what, revoke) => {
    const restore = suppressSignals();
    try {
      const bystander = await signIn(one, await createUser(one));
      const { url } = other;
      const otherStream = await openStream(url, { bearer: bystander.session.token });
      let took = Number.POSITIVE_INFINITY;
      for (let time = 0; time < tries && took >= longest; time += 1) {
        const user = await createUser(one);
        const person: Person = { user, ...(await signIn(one, user)) };
        const streams = [one.url, url, url].map((from) => openStream(from, { bearer: person.session.token }));
        const opened: EventStream[] = await Promise.all(streams);
        expect(opened.map(({ status }) => status)).toEqual([200, 200, 200]);

        expect((await revoke(person)).status).toBeLessThan(300);
        const revokedAt = performance.now();
        for (const stream of opened) expect(await endOf(stream)).toBe('ended');
        took = performance.now() - revokedAt;
        expect((await openStream(url, { bearer: person.session.token })).status).toBe(401);
      }
      expect(took).toBeLessThan(longest);
      expect(otherStream.end).toBeUndefined();
      otherStream.destroy();
    } finally {
      await restore();
    }
  });

  test('end when the first use of a newer token of the device supersedes their token', async () => {
    const user = await createUser(one);
    const { authentication, session } = await signIn(one, user);
    const stream = await openStream(other.url, { bearer: session.token });
    await signIn(one, user, { id: authentication.device_id });
    expect(await endOf(stream)).toBe('ended');
  });
});
