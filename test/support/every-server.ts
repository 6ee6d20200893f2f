import type { Database, Shard } from '../../src/database/database.js';
import { userTables, workTables } from '../../src/database/sharding/moving/tables.js';
import type { Statement } from '../../src/database/sql.js';
import { isTestSql, testSql } from './sql.js';

/** Tables whose rows each belong to one user. Statements of tests may insert into them. */
const ofUsers = new Set([...userTables, ...workTables].map(({ name }) => name));
/** Tables of the directory that have copies on the other servers. */
const copied = /\b(?:from|join|into|update) (?:webhooks|migrations|chores)\b/;
const isUuid = (value: unknown) =>
  typeof value === 'string' && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(value);

/**
 * A database whose `everyone` runs the statements of tests where their rows are: inserts on the server of their user, all
 * others on every server, with one result. Tests need not know how many servers there are.
 */
export function onEveryServer(database: Database): Database {
  const { shards, everyone } = database;
  const query = async <Row extends object>(statement: Statement<Row>): Promise<Row[]> => {
    if (!isTestSql(statement) || copied.test(statement.text)) return everyone.query(statement);
    const [, table] = /^\s*insert into (\w+)/.exec(statement.text) ?? [];
    if (table === 'users') {
      const rows = await everyone.query(statement);
      await bringHome(database);
      return rows;
    }
    const selectsUsers = /\bfrom users\b/.test(statement.text);
    if (table !== undefined && !selectsUsers) {
      return (await serverOfInsert(database, table, statement)).everyone.query(statement);
    }
    return merge(statement.text, await Promise.all(shards.map((shard) => shard.everyone.query(statement))));
  };
  return { ...database, everyone: { ...everyone, query } };
}

/** The server that has one of the users whose ids are among the values. */
async function serverOfInsert(
  database: Database,
  table: string,
  { values }: Statement,
): Promise<Pick<Shard, 'everyone'>> {
  const ids = idsOf({ values });
  if (!ofUsers.has(table)) return database;
  const find: Statement = { scope: 'everyone', text: 'select from users where id = any($1::uuid[])', values: [ids] };
  for (const shard of database.shards) if ((await shard.everyone.query(find)).length > 0) return shard;
  return database;
}

const idsOf = ({ values }: Pick<Statement, 'values'>) => values.flat().filter(isUuid).map(String);

/** Takes users that were inserted on the first server to their servers. */
async function bringHome({ shards, shardOf, everyone }: Database): Promise<void> {
  const [main, ...others] = shards;
  const all = await everyone.query<{ id: string; row: object }>(testSql('select id, to_jsonb(u) as row from users u'));
  for (const shard of others) {
    const rows = all.flatMap(({ id, row }) => (shardOf(id).name === shard.name ? [row] : []));
    const insert = 'insert into users select * from jsonb_populate_recordset(null::users, $1::jsonb)';
    await shard.everyone.query(testSql(insert, [JSON.stringify(rows)]));
  }
  const strangers = all.flatMap(({ id }) => (shardOf(id).name === main?.name ? [] : [id]));
  await everyone.query(testSql('delete from users where id = any($1::uuid[])', [strangers]));
}

/** Values without a table are those of the first server. Counts are added. All other rows are put together. */
function merge<Row extends object>(text: string, answers: readonly Row[][]): Row[] {
  if (!/\b(?:from|update|into)\b/.test(text)) return answers[0] ?? [];
  const isAggregate = /\b(?:count|sum|max|min|bool_or|string_agg|exists) ?\(/.test(text) && !/\bgroup by\b/.test(text);
  if (!isAggregate || answers.some((rows) => rows.length !== 1)) return answers.flat();
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
