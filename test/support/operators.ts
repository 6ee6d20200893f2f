import type { User } from '../../src/contract/user.js';
import type { TestApp } from './app.js';
import { testSql } from './sql.js';
import { createUser, signIn } from './users.js';

/** Activates a role without a link. */
export function activateRoleOf({ database }: Pick<TestApp, 'database'>, userId: string): Promise<unknown> {
  return database.query(testSql('update users set role_active_since = db_now() where id = $1', [userId]));
}

/** Makes the login and the re-authentications of a session older by this number of minutes. */
export async function ageLogin({ database }: Pick<TestApp, 'database'>, userId: string, minutes: number) {
  const age = `interval '${minutes} minutes'`;
  await database.query(
    testSql(`update authentications set approved_at = approved_at - ${age} where user_id = $1`, [userId]),
  );
  await database.query(testSql(`update sessions set proven_at = proven_at - ${age} where user_id = $1`, [userId]));
}

/** Creates a user with an active role and signs in with a second factor. Returns the session, and calls that use it. */
export async function signInWithRole(postern: TestApp, role: User['role'], factor: string | null = 'totp') {
  const user = await createUser(postern, { role });
  const { authentication, session } = await signIn(postern, user);
  await postern.database.query(
    testSql('update authentications set second_factor = $3 where user_id = $1 and id = $2', [
      user.id,
      authentication.id,
      factor,
    ]),
  );
  await activateRoleOf(postern, user.id);
  const call = (method: string, path: string, body?: object) =>
    postern.api<{ errors?: { code: string }[] }>(method, path, { bearer: session.token, ...(body && { body }) });
  const codeOf = async (method: string, path: string, body?: object) => {
    const answer = await call(method, path, body);
    return [answer.status, answer.body?.errors?.[0]?.code];
  };
  return { user, bearer: session.token, call, codeOf };
}
