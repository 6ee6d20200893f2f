import { type Database, mainShard, type Queryable, type Shard } from '../../src/database/database.js';
import { userTables, workTables } from '../../src/database/sharding/moving/tables.js';
import type { Scope, Statement } from '../../src/database/sql.js';
import { isTestSql, testSql } from './sql.js';

/** Tables whose rows each belong to one user. Statements of tests may insert into them. */
const ofUsers = new Set([...userTables, ...workTables].map(({ name }) => name));
/** Tables of the directory that have copies on the other servers. */
const copied = /\b(?:from|join|into|update) (?:webhooks|migrations|chores)\b/;
const isUuid = (value: unknown) =>
  typeof value === 'string' && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(value);

/** Runs statements on one server. */
interface Part extends Queryable<Scope> {
  readonly shard: Shard;
}

/**
 * A database whose `everyone` runs the statements of tests where their rows are: inserts on the server of their user, all
 * others on every server, with one result. Its transactions are open on every server, so they lock a row where it is. Tests
 * need not know how many servers there are.
 */
export function onEveryServer(database: Database): Database {
  const { shards, everyone } = database;
  const parts = shards.map((shard) => ({ shard, query: shard.everyone.query }));
  return {
    ...database,
    everyone: {
      query: queryOn(database, parts),
      transaction: (work) =>
        everyone.transaction((main) => {
          const [first, ...others] = shards;
          const begun = first === undefined ? [] : [{ shard: first, query: main.query }];
          return inTransactions(others, begun, (open) => work({ ...main, query: queryOn(database, open) }));
        }),
    },
  };
}

/** Runs `work` with a transaction on each of the shards, besides those that are open. */
async function inTransactions<T>(
  shards: readonly Shard[],
  open: readonly Part[],
  work: (open: readonly Part[]) => Promise<T>,
): Promise<T> {
  const [shard, ...others] = shards;
  if (shard === undefined) return work(open);
  return shard.everyone.transaction(({ query }) => inTransactions(others, [...open, { shard, query }], work));
}

/** @param parts of all servers, with `main` first */
function queryOn(database: Database, parts: readonly Part[]): Queryable<Scope>['query'] {
  const partOn = (name: string): Part => {
    const part = parts.find(({ shard }) => shard.name === name);
    if (part === undefined) throw new Error(`there is no server ${name}`);
    return part;
  };
  const main = partOn(mainShard);
  return async <Row extends object>(statement: Statement<Row>): Promise<Row[]> => {
    if (!isTestSql(statement)) {
      const { scope, users } = statement;
      return (scope === 'user' && typeof users === 'string' ? partOn(database.shardOf(users).name) : main).query(
        statement,
      );
    }
    if (copied.test(statement.text)) return main.query(statement);
    const table = insertedTable(statement);
    if (table === 'users') {
      const rows = await main.query(statement);
      await bringHome(database, parts);
      return rows;
    }
    if (table !== undefined) {
      const isOfUser = ofUsers.has(table) || table === 'jobs';
      if (!isOfUser) return main.query(statement);
      const divided = divideByServer(database, parts, statement);
      if (divided !== undefined) return (await Promise.all(divided.map(([part, of]) => part.query(of)))).flat();
      return ((await partOfUser(database, parts, statement)) ?? main).query(statement);
    }
    return merge(statement.text, await Promise.all(parts.map((part) => part.query(statement))));
  };
}

/** The table that a statement adds rows to: those of its values, and none of each user. */
function insertedTable({ text }: Statement): string | undefined {
  const [, table] = /^\s*(?:with \w+ as \(\s*)?insert into (\w+)/.exec(text) ?? [];
  if (table !== undefined) return /\bfrom users\b/.test(text) && table !== 'users' ? undefined : table;
  return /\badd_job\(/.test(text) && !/\bfrom (?!graphile_worker\.add_job|unnest)/.test(text) ? 'jobs' : undefined;
}

/** The statement for each server, if it adds a row for each id of its only array. */
function divideByServer<Row extends object>(
  { shardOf }: Database,
  parts: readonly Part[],
  statement: Statement<Row>,
): (readonly [Part, Statement<Row>])[] | undefined {
  const { text, values } = statement;
  const [ids, ...others] = values.filter(Array.isArray) as unknown[][];
  if (ids === undefined || others.length > 0 || !ids.every(isUuid) || !text.includes('unnest(')) return undefined;
  return parts.map((part) => {
    const own = ids.filter((id) => shardOf(String(id)).name === part.shard.name);
    return [part, { ...statement, values: values.map((value) => (value === ids ? own : value)) }] as const;
  });
}

/** The server of the user whom the values name. */
async function partOfUser(
  { shardOf }: Database,
  parts: readonly Part[],
  { text, values }: Statement,
): Promise<Part | undefined> {
  const ids = values.flat().filter(isUuid).map(String);
  const find: Statement = { scope: 'everyone', text: 'select from users where id = any($1::uuid[])', values: [ids] };
  for (const part of parts) if ((await part.query(find)).length > 0) return part;
  // The user does not exist.
  const [userId, ...others] = new Set(ids);
  if (userId === undefined || others.length > 0 || !text.includes('user_id')) return undefined;
  return parts.find(({ shard }) => shard.name === shardOf(userId).name);
}

/** Takes users that were inserted on the first server to their servers. */
async function bringHome({ shardOf }: Database, [main, ...others]: readonly Part[]): Promise<void> {
  if (main === undefined) return;
  const all = await main.query<{ id: string; row: object }>(testSql('select id, to_jsonb(u) as row from users u'));
  for (const { shard, query } of others) {
    const rows = all.flatMap(({ id, row }) => (shardOf(id).name === shard.name ? [row] : []));
    const insert = 'insert into users select * from jsonb_populate_recordset(null::users, $1::jsonb)';
    await query(testSql(insert, [JSON.stringify(rows)]));
  }
  const strangers = all.flatMap(({ id }) => (shardOf(id).name === main.shard.name ? [] : [id]));
  await main.query(testSql('delete from users where id = any($1::uuid[])', [strangers]));
}

const isDistinct = (text: string) => /^\s*select distinct\b/.test(text);

/** Rows of no table are those of the first server. Counts are added. All other rows are put together. */
function merge<Row extends object>(text: string, answers: readonly Row[][]): Row[] {
  if (!/\b(?:from|update|into|table)\s+(?!\s|unnest|generate_series)/.test(text)) return answers[0] ?? [];
  const isAggregate = /\b(?:count|sum|max|min|bool_or|string_agg|exists) ?\(/.test(text) && !/\bgroup by\b/.test(text);
  if (!isAggregate || answers.some((rows) => rows.length !== 1)) {
    const rows = new Map(answers.flat().map((row, place) => [isDistinct(text) ? JSON.stringify(row) : place, row]));
    return [...rows.values()];
  }
  const merged: Record<string, unknown> = {};
  for (const row of answers.flat()) {
    for (const [column, value] of Object.entries(row)) merged[column] = add(merged[column], value);
  }
  return [merged as Row];
}

function add(one: unknown, other: unknown): unknown {
  if (one === undefined || one === null) return other;
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (typeof one === 'boolean') return one || other;
  if (typeof one === 'string' && /^\d+$/.test(one) && /^\d+$/.test(String(other)))
    return String(Number(one) + Number(other));
  return one;
}
