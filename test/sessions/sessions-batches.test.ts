import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewSession } from '../../src/contract/session.js';
import { newToken, parseToken } from '../../src/lib/crypto/token-strings.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { useWithoutProof } from '../support/dpop.js';
import { queriesOf } from '../support/queries.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser, login, signIn } from '../support/users.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '100000' });
});
afterAll(() => app.close());

const create = (token: string) => app.api<NewSession>('POST', '/v1/sessions', { basic: token });
const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status;

/** Creates a user, and returns an authentication token that was used before or not. */
async function tokenOf({ used }: { readonly used: boolean }): Promise<{ token: string; userId: string; id: string }> {
  const user = await createUser(app);
  const { token, authentication } = used
    ? await signIn(app, user)
    : await login(app, user).then(({ body }) => ({ token: body.token ?? '', authentication: body }));
  return { token, userId: user.id, id: authentication.id };
}

/** Tokens in every state, used and unused, each with the expected status of creating a session with it. */
async function tokensInEveryState(): Promise<[string, number][]> {
  const list: [string, number][] = [];
  for (const used of [true, false]) {
    list.push([(await tokenOf({ used })).token, 201]);
    const addChanged = async (statement: string, status: number) => {
      const { token, userId, id } = await tokenOf({ used });
      await app.database.query(
        testSql(`with chosen as (select $1::uuid as user_id, $2::uuid as id) ${statement}`, [userId, id]),
      );
      list.push([token, status]);
    };
    const authentication = (change: string) =>
      `update authentications a set ${change} from chosen where a.user_id = chosen.user_id and a.id = chosen.id`;
    const user = (change: string) => `update users u set ${change} from chosen where u.id = chosen.user_id`;
    await addChanged(authentication('ended_at = db_now()'), 401);
    await addChanged(authentication('expires_at = db_now()'), 401);
    await addChanged(user('epoch = epoch + 1'), 401);
    await addChanged(user(`status = 'deactivated'`), 400);
    await addChanged(user(`lock_kind = 'permanent'`), 403);
    await addChanged(user(`lock_kind = 'temporary', locked_until = db_now() + interval '1 hour'`), 403);
    await addChanged(user(`lock_kind = 'temporary', locked_until = db_now()`), 201);
    const { userId, id } = await tokenOf({ used });
    list.push([newToken('authentication', [userId, id]).token, 401]);
  }
  return list;
}

describe('sessions that are created together', () => {
  test('get one result each, by tokens in every state', async () => {
    const cases = (await tokensInEveryState()).flatMap((pair) => Array<[string, number]>(5).fill(pair));
    const answers = await Promise.all(cases.map(([token]) => create(token)));
    expect(answers.map(({ status }) => status)).toEqual(cases.map(([, status]) => status));
    const created = answers.flatMap(({ status, body }) => (status === 201 ? [body] : []));
    expect(new Set(created.map(({ id }) => id)).size).toBe(created.length);
    for (const { token, user_id, id } of created) {
      const { status, body } = await app.api<NewSession>('POST', '/v1/sessions/verify', { bearer: token });
      expect({ status, user_id: body.user_id, id: body.id }).toEqual({ status: 200, user_id, id });
    }
  });

  test('never outlive a login that ended during their creation', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const tokens = await Promise.all(Array.from({ length: 4 }, () => tokenOf({ used: true })));
      const repeated = tokens.flatMap(({ token }) => Array<string>(4).fill(token));
      const [answers] = await Promise.all([
        Promise.all(repeated.map(create)),
        ...tokens.map(({ token }) => app.api('DELETE', '/v1/tokens', { basic: token })),
      ]);
      for (const { status, body } of answers) {
        if (status !== 201) expect(status).toBe(401);
        else expect(await statusOf(app.api('POST', '/v1/sessions/verify', { bearer: body.token }))).toBe(401);
      }
    }
  });

  test('share one round trip if their tokens were used before, except for the first session', async () => {
    const tokens = await Promise.all(Array.from({ length: 10 }, () => tokenOf({ used: true })));
    const parsed = tokens.flatMap(({ token }) => parseToken('authentication', token) ?? []);
    const queries = await queriesOf(() =>
      Promise.all(parsed.map((token) => app.services.sessions.create(token, useWithoutProof))),
    );
    expect(queries.map(({ name }) => name)).toEqual(['session_create', 'session_create_many']);
  });
});
