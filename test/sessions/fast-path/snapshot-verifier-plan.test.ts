import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../src/lib/crypto/digests.js';
import { newToken, ParsedToken } from '../../../src/lib/crypto/token-strings.js';
import { createSnapshotVerifier } from '../../../src/sessions/fast-path/snapshot-verifier.js';
import { createSessions } from '../../../src/sessions/sessions.js';
import { createPlainVerifier } from '../../../src/sessions/verifier.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { dpopVerifierOf, useWithoutProof } from '../../support/dpop.js';
import { testPolicies } from '../../support/login-policies.js';
import { queriesOf, type SentQuery } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops': number;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly PlanNode[];
}

const users = 20_000;

const uuid = (text: string) =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const tokens = Array.from({ length: users }, (_, index) => {
  const id = uuid(`user${index + 1}`);
  return newToken('session', [id, id]);
});
const tokenOf = (user: number) => tokens[user - 1]?.token ?? '';

let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  const fill = (statement: string) => db.database.query(testSql(statement, [users]));
  const userId = `md5('user' || n)::uuid`;
  await fill(`insert into users (id, created_at, updated_at)
    select ${userId}, now(), now() from generate_series(1, $1::int) n`);
  await fill(`insert into authentications
      (user_id, id, device_id, authenticator, status, epoch, token_digest, expires_at, created_at, updated_at, approved_at)
    select ${userId}, ${userId}, ${userId}, 'password', 'approved', 0, sha256(''), now() + '1 day', now(), now(), now()
    from generate_series(1, $1::int) n`);
  await db.database.query(
    testSql(
      `insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
      select ${userId}, ${userId}, ${userId}, ${userId}, digest, now(), now() + '1 day'
      from unnest($1::bytea[]) with ordinality as made (digest, n)`,
      [tokens.map(({ digest }) => digest)],
    ),
  );
  client = new pg.Client(db.target);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
});

/** The query that verifies the sessions of this many users at once. */
async function checkOf(count: number, batching: boolean): Promise<SentQuery> {
  const { verify } = batching ? createSnapshotVerifier(db.database) : createPlainVerifier(db.database);
  const some = Array.from({ length: count }, (_, index) => tokenOf(1 + index * Math.floor(users / count)));
  const [query] = await queriesOf(() => Promise.all(some.map((text) => verify(text))));
  if (query === undefined) throw new Error('nothing was sent');
  return query;
}

/** The scans of a query that is prepared as on the service's connections. */
async function scansOf({ text, values = [] }: SentQuery, mode: string): Promise<PlanNode[]> {
  await client.query(`set plan_cache_mode = ${mode}; deallocate all`);
  await client.query(`prepare checked as ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (format json, analyze, timing off) execute checked(${values.map(literal).join(', ')})`,
  );
  return rows.flatMap((row) => scans(row['QUERY PLAN'][0].Plan));
}

/** A literal without a type: a prepared statement knows the types of its parameters. */
function literal(value: unknown): string {
  if (value === null) return 'null';
  return Buffer.isBuffer(value) ? `'\\x${value.toString('hex')}'` : `'${String(value)}'`;
}

/** How often PostgreSQL plans a prepared query in this number of executions. */
async function plansOf(query: SentQuery, executions: number): Promise<number> {
  await client.query('set plan_cache_mode = auto; deallocate all');
  await client.query(`prepare checked as ${query.text}`);
  for (let count = 0; count < executions; count += 1) {
    await client.query(`execute checked(${(query.values ?? []).map(literal).join(', ')})`);
  }
  const { rows } = await client.query<{ custom_plans: string }>(`select custom_plans from pg_prepared_statements`);
  return Number(rows[0]?.custom_plans);
}

function scans(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(scans);
  return node['Relation Name'] === undefined && node['Node Type'] !== 'Bitmap Index Scan' ? below : [node, ...below];
}

/** Whether a scan reads `session_changes`. */
const isOfChanges = (scan: PlanNode) =>
  [scan['Relation Name'], scan['Index Name']].some((name) => /^session_changes(_pkey)?$/.test(name ?? ''));

/** Without statistics, the planner may choose either index of a user's few rows. */
const states = [
  { state: 'never analyzed', authentications: /^authentications_(pkey|by_device)$/ },
  { state: 'analyzed', authentications: /^authentications_pkey$/ },
];

describe.each(states)('the plan of a session check on tables that were $state', ({ state, authentications }) => {
  beforeAll(async () => {
    if (state === 'analyzed') await db.database.query(testSql('analyze'));
  });

  const cases = ['force_generic_plan', 'force_custom_plan'].flatMap((mode) =>
    [1, 2, 64].map((count) => ({ mode, count })),
  );
  test.each(cases)(
    'reads one index of each table, once for each of $count sessions ($mode)',
    async ({ mode, count }) => {
      for (const batching of count === 1 ? [true, false] : [true]) {
        const all = await scansOf(await checkOf(count, batching), mode);
        const found = all.filter((scan) => !isOfChanges(scan) && scan['Relation Name'] !== 'session_changes_floor');
        expect(found.map((scan) => scan['Index Name'] ?? scan['Node Type']).sort()).toEqual([
          expect.stringMatching(authentications),
          'sessions_pkey',
          'users_pkey',
        ]);
        expect(found.map((scan) => scan['Actual Loops'])).toEqual([count, count, count]);
      }
    },
  );

  // PostgreSQL compares five custom plans with a generic one. Planning costs several times what a look-up costs.
  test.each([1, 2, 64])('is made five times at most, for %i sessions at once', async (count) => {
    expect(await plansOf(await checkOf(count, true), 20)).toBe(5);
  });
});

describe('the plan of the look-up of changes', () => {
  test('reads only new rows, by the index, however many older ones there are', async () => {
    await db.database.query(
      testSql(`insert into session_changes (user_id, xid)
      select gen_random_uuid(), (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1)::text::xid8 from generate_series(1, 20000)`),
    );
    await db.database.query(testSql('analyze session_changes'));
    const { verify } = createSnapshotVerifier(db.database);
    const token = tokenOf(1);
    for (let count = 0; count < 2; count += 1) await verify(token);
    const [query] = await queriesOf(() => verify(token));
    if (query === undefined) throw new Error('nothing was sent');
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      const found = (await scansOf(query, mode)).filter(isOfChanges);
      expect(found.map((scan) => scan['Index Name'])).toContain('session_changes_pkey');
      expect(found.map((scan) => scan['Actual Rows'])).toEqual(found.map(() => 0));
    }
    expect(await plansOf(query, 20)).toBe(5);
    await db.database.query(testSql('truncate session_changes'));
  });
});

describe('the plan of session creation', () => {
  beforeAll(async () => {
    await db.database.query(testSql('update authentications set first_used_at = approved_at'));
    await db.database.query(testSql('analyze'));
  });

  /** An authentication token of this user. */
  const parsedTokenOf = (user: number) =>
    new ParsedToken(uuid(`user${user}`).replaceAll('-', '').repeat(2), sha256Hex(''));

  /** The statements that create this number of sessions at once. The first session is created alone. */
  async function creationOf(count: number): Promise<SentQuery[]> {
    const { create } = createSessions(db.database, {
      ...{ lifetime: 1000, batching: true, counters: createCounters() },
      dpopVerifier: dpopVerifierOf(db.database),
      report: async () => undefined,
      policies: testPolicies,
      deviceLimit: { removeOldest: async () => undefined },
    });
    return queriesOf(() =>
      Promise.all(Array.from({ length: count }, (_, index) => create(parsedTokenOf(1 + index), useWithoutProof))),
    );
  }

  test('is two statements for up to 65 sessions at once, and reads one index of each table', async () => {
    for (const [count, together] of [
      [2, 1],
      [65, 64],
    ] as const) {
      // After one creation in 256, the oldest sessions are deleted.
      const sent = (await creationOf(count)).filter(({ name }) => name !== 'session_delete_oldest');
      expect(sent.map(({ name }) => name)).toEqual(['session_create', 'session_create_many']);
      for (const [index, loops] of [1, together].entries()) {
        const query = sent[index];
        if (query === undefined) throw new Error('nothing was sent');
        expect(await indexScansOf(query)).toEqual([
          // A user has few valid tokens, so either index is right.
          [expect.stringMatching(/^authentications_(pkey|by_device)$/), loops],
          ['users_pkey', loops],
        ]);
      }
    }
  });

  async function indexScansOf(query: SentQuery): Promise<[string, number][]> {
    await client.query('begin');
    // The statement inserts the same ids again.
    await client.query('delete from sessions where authentication_id <> id');
    const found = await scansOf(query, 'force_generic_plan');
    await client.query('rollback');
    return found
      .filter(
        (scan) =>
          scan['Actual Loops'] > 0 && scan['Node Type'] !== 'ModifyTable' && scan['Relation Name'] !== 'sessions',
      )
      .map((scan): [string, number] => [scan['Index Name'] ?? scan['Node Type'], scan['Actual Loops']])
      .sort(([a], [b]) => a.localeCompare(b));
  }
});
