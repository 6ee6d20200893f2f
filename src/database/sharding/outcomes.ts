import { directoryStatement, everyoneStatement, type Statement, sql } from '../sql.js';

/** A part of a transaction over several servers that was prepared on the server `branch`. */
export interface PreparedPart {
  readonly id: string;
  /** The name of the server whose commit decides. */
  readonly deciding: string;
  readonly branch: string;
}

/** The name of a prepared transaction. It is unique on a PostgreSQL that has several databases of Postern. */
export const prepareName = ({ id, deciding, branch }: PreparedPart) => `postern:${id}:${deciding}:${branch}`;

/** Undefined for the prepared transactions of other programs. */
export function parsePrepareName(name: string): PreparedPart | undefined {
  const [, id, deciding, branch] = /^postern:([0-9a-f-]{36}):([a-z][a-z0-9-]*):([a-z][a-z0-9-]*)$/.exec(name) ?? [];
  return id === undefined || deciding === undefined || branch === undefined ? undefined : { id, deciding, branch };
}

/** A statement that accepts no parameters, such as `prepare transaction`. @param text must not contain values from outside */
export const rawStatement = (text: string): Statement => ({ scope: 'everyone', text, values: [] });

/**
 * Decides the transaction by its commit, in one round trip. The primary key refuses a second decision. PostgreSQL does not
 * run the commit if the insert fails.
 * @param id a UUID of this process
 */
export const commitWithOutcome = (id: string) =>
  rawStatement(`insert into transaction_outcomes (id, is_committed) values ('${id}', true); commit`);

/** Decides that the transaction is rolled back, unless it is decided. */
export const insertRollback = everyoneStatement<{ id: string }>(
  'outcome_insert_rollback',
  (p) => sql`insert into transaction_outcomes (id, is_committed) values (${p.id}, false) on conflict do nothing`,
);

/** This is a separate statement, because the statement of the insert does not see a row that was committed meanwhile. */
export const findOutcome = everyoneStatement<{ id: string }, { is_committed: boolean }>(
  'outcome_find',
  (p) => sql`select is_committed from transaction_outcomes where id = ${p.id}`,
);

/**
 * The parts that were prepared some time ago: their process is slow or dead.
 * @param age milliseconds
 */
export const selectPrepared = everyoneStatement<{ age: number }, { name: string }>(
  'outcome_prepared',
  (p) => sql`
    select gid as name from pg_prepared_xacts
    where database = current_database() and gid like 'postern:%'
      and prepared < clock_timestamp() - ${p.age}::float8 * interval '1 millisecond'`,
);

/** The servers that the directory knows. */
export const selectServers = directoryStatement<object, { name: string }>(
  'outcome_servers',
  () => sql`select name from shards`,
);

/**
 * Deletes outcomes that no server needs. A process whose transaction is that old cannot decide any more: PostgreSQL ends a
 * transaction that is idle for 10 seconds.
 */
export const deleteOutcomes = everyoneStatement<{ needed: readonly string[] }>(
  'outcome_delete',
  (p) => sql`
    delete from transaction_outcomes
    where created_at < clock_timestamp() - interval '1 hour' and not id = any (${p.needed}::uuid[])`,
);
