import type { User } from '../../src/contract/user.js';
import { sql } from '../../src/database/database.js';
import type { TestApp } from './app.js';
import { createUser, signIn } from './people.js';

/** Lets a role take effect without a link. */
export function activateRoleOf({ database }: Pick<TestApp, 'database'>, userId: string): Promise<unknown> {
  return database.query(sql('update users set role_active_since = db_now() where id = $1'), [userId]);
}

/** Lets the login of a session, and what was proven in it, be so many minutes old. */
export async function ageLogin({ database }: Pick<TestApp, 'database'>, userId: string, minutes: number) {
  const age = `interval '${minutes} minutes'`;
  await database.query(sql(`update authentications set approved_at = approved_at - ${age} where user_id = $1`), [
    userId,
  ]);
  await database.query(sql(`update sessions set proven_at = proven_at - ${age} where user_id = $1`), [userId]);
}

/** A session of a user with a role that takes effect, of a login that used a second factor. */
export async function operate(postern: TestApp, role: User['role'], factor: string | null = 'totp') {
  const user = await createUser(postern, { role });
  const { authentication, session } = await signIn(postern, user);
  await postern.database.query(sql('update authentications set second_factor = $3 where user_id = $1 and id = $2'), [
    user.id,
    authentication.id,
    factor,
  ]);
  await activateRoleOf(postern, user.id);
  const call = (method: string, path: string, body?: object) =>
    postern.api<{ errors?: { code: string }[] }>(method, path, { bearer: session.token, ...(body && { body }) });
  const codeOf = async (method: string, path: string, body?: object) => {
    const answer = await call(method, path, body);
    return [answer.status, answer.body?.errors?.[0]?.code];
  };
  return { user, bearer: session.token, call, codeOf };
}
