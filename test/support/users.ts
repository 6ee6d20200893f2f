import { randomInt } from 'node:crypto';
import type { OutboxMessage } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import type { ApiAnswer, TestApp } from './app.js';
import { eventually } from './eventually.js';
import { testSql } from './sql.js';

export const password = 'a battery of horses';

type Context = Pick<TestApp, 'api' | 'adminKey'>;

/** A user with a password and the given members. */
export async function createUser({ api, adminKey }: Context, fields: object = {}): Promise<User> {
  const username = `user${randomInt(1e12)}`;
  const answer = await api<User>('POST', '/admin/v1/users', {
    bearer: adminKey,
    body: { username, password, ...fields },
  });
  if (answer.status !== 201) throw new Error(`no user was created: ${answer.text}`);
  return answer.body;
}

/** A random phone number. There are so many that hundreds of them do not collide. */
export const newPhone = () => `+1${randomInt(2_000_000_000, 10_000_000_000)}`;

/** A random mail address. */
export const newEmail = () => `user${randomInt(1e12)}@example.com`;

/** The body of a password login. */
export const passwordLogin = (username: string | null, secret = password, device: object = {}) => ({
  identity: { type: 'username', value: username },
  authenticator: 'password',
  secret,
  device,
});

/** The body of an SMS login. */
export const smsLogin = (phone: string | null, device: object = {}) => ({
  identity: { type: 'phone', value: phone },
  authenticator: 'sms',
  device,
});

/** The body of a login by mail. */
export const emailLogin = (email: string | null, device: object = {}) => ({
  identity: { type: 'email', value: email },
  authenticator: 'email',
  device,
});

/** The logins with a code, which behave in the same way. */
export const codeLogins = [
  { authenticator: 'sms', field: 'phone', newAddress: newPhone, loginOf: smsLogin },
  { authenticator: 'email', field: 'email', newAddress: newEmail, loginOf: emailLogin },
] as const;

export function login(
  context: Pick<Context, 'api'>,
  user: User,
  device: object = {},
): Promise<ApiAnswer<Authentication>> {
  return context.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(user.username, password, device) });
}

/** An authentication token and a session of it. */
export async function signIn(
  context: Context,
  user: User,
  device: object = {},
): Promise<{ authentication: Authentication; token: string; session: NewSession }> {
  const { body: authentication } = await login(context, user, device);
  const token = authentication.token ?? '';
  const { body: session } = await context.api<NewSession>('POST', '/v1/sessions', { basic: token });
  return { authentication, token, session };
}

/** The outbox's message of an authentication, once it is in one of the states. */
export async function messageOf(
  { api, adminKey, database }: Context & Partial<Pick<TestApp, 'database'>>,
  authenticationId: string,
  states: readonly string[] = ['sent'],
): Promise<OutboxMessage> {
  const is = testSql('select 1 from outbox where authentication_id = $1 and state = any($2) limit 1', [
    ...[authenticationId, states],
  ]);
  let looks = 0;
  return eventually(`a message of ${authenticationId} that is ${states.join(' or ')}`, async () => {
    looks += 1;
    // Most looks are too early. A statement takes a part of the time of a request.
    if (looks % 10 !== 0 && database !== undefined && (await database.query(is)).length === 0) return undefined;
    const { status, body } = await api<OutboxMessage[]>(
      'GET',
      `/admin/v1/outbox?filter=authentication_id:eq:${authenticationId}`,
      { bearer: adminKey },
    );
    if (status !== 200) throw new Error(`the outbox: ${status}`);
    return body.find((message) => states.includes(message.state));
  });
}

/** The code that the console provider sent for an authentication. */
export async function codeOf(context: Context, authenticationId: string): Promise<string> {
  const { code } = await messageOf(context, authenticationId);
  if (code === null) throw new Error('the outbox shows no code');
  return code;
}

/** A code other than this one. */
export const wrongCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
