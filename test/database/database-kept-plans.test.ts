import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { queriesOf, type SentQuery } from '../support/queries.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

let app: TestApp;
let client: pg.Client;
let user: User;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '100000' });
  user = await createUser(app);
  client = new pg.Client({ connectionString: app.databaseEnv.DATABASE_URL });
  await client.connect();
  for (let count = 0; count < 30; count += 1) await publish();
});
afterAll(async () => {
  await client.end();
  await app.close();
});

const publish = () =>
  app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: user.id, notification_type: 'payment', description: 'A payment' },
  });
const inParallel = (work: () => Promise<unknown>) => () => Promise.all(Array.from({ length: 20 }, work));

/** The most frequent operations. */
const operations: Record<string, () => Promise<() => Promise<unknown>>> = {
  'a login': async () => () => app.api('POST', '/v1/tokens', { body: passwordLogin(user.username) }),
  'a refused login': async () => () => app.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong') }),
  'a new session': async () => {
    const { token } = await signIn(app, user);
    return () => app.api('POST', '/v1/sessions', { basic: token });
  },
  'new sessions, together': async () => {
    const { token } = await signIn(app, user);
    return inParallel(() => app.api('POST', '/v1/sessions', { basic: token }));
  },
  'checks of sessions': async () => {
    const { session } = await signIn(app, user);
    return inParallel(() => app.api('POST', '/v1/sessions/verify', { bearer: session.token }));
  },
  'a notification': async () => publish,
  'notifications, together': async () => inParallel(publish),
  'a first page': async () => {
    const { session } = await signIn(app, user);
    return () => app.api('GET', '/v1/notifications', { bearer: session.token });
  },
  'a page behind an anchor': async () => {
    const { session } = await signIn(app, user);
    const { headers } = await app.api('GET', '/v1/notifications?limit=5', { bearer: session.token });
    const next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1] ?? '';
    return () => app.api('GET', next, { bearer: session.token });
  },
};

let named = 0;

/** The numbers of new and reused plans in 20 executions of a statement. Rolls back their effects. */
async function plansOf({ name, text, values = [] }: SentQuery): Promise<{ fresh: number; reused: number }> {
  await client.query('begin; deallocate all');
  try {
    // Uses the same protocol as the service, so that parameters have the same types.
    const statement = { name: `kept_${name}_${named++}`, text, values: [...values] };
    for (let count = 0; count < 20; count += 1) {
      await client.query('savepoint before');
      // The primary key refuses the same ids in a second execution, but only after PostgreSQL has made the plan.
      await client.query(statement).catch(() => undefined);
      await client.query('rollback to savepoint before');
    }
    const counts = `select custom_plans::int as fresh, generic_plans::int as reused from pg_prepared_statements where name = $1`;
    const { rows } = await client.query<{ fresh: number; reused: number }>(counts, [statement.name]);
    return rows[0] ?? { fresh: Number.NaN, reused: Number.NaN };
  } finally {
    await client.query('rollback');
  }
}

describe('the statements of frequent operations', () => {
  test.each(Object.keys(operations))(
    'are prepared, and keep their plans after the fifth execution: %s',
    async (name) => {
      const work = await operations[name]?.();
      const sent = await queriesOf(async () => work?.());
      expect(sent).not.toEqual([]);
      for (const query of sent) {
        expect(query.name, query.text).toBeDefined();
        const fresh = query.values === undefined || query.values.length === 0 ? 0 : 5;
        expect({ name: query.name, ...(await plansOf(query)) }).toEqual({
          name: query.name,
          fresh,
          reused: 20 - fresh,
        });
      }
    },
  );
});
