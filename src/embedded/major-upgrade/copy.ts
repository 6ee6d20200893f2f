import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { DataDirectory } from '../data-directory.js';
import { inheritedPath } from '../descriptors.js';
import { EmbeddedPostgresError } from '../error.js';
import type { Log } from '../membership.js';
import {
  checksumOf,
  listSequences,
  listTables,
  missingIndexes,
  missingObjects,
  type Sequence,
  type Table,
} from './contents.js';

/** A connection to the database of Postern on one of the two servers. */
export interface Side {
  readonly client: pg.Client;
  readonly data: DataDirectory;
}

/** The file by which one server passes rows to the other. It moves from the former data directory to the new one. */
const transferName = 'postern-transfer';

/** The maximum number of objects that a message names. */
const maxNamed = 5;

/**
 * Copies all rows of a database into another one, which has the same tables. Then it compares a checksum of each table.
 * @throws EmbeddedPostgresError if the databases differ
 */
export async function copyDatabase(from: Side, to: Side, log: Log): Promise<void> {
  await createExtensions(from, to);
  await refuseOtherObjects(from, to);
  const tables = await listTables(from.client);
  // The rows and their checksums are read in one snapshot, which lasts until the connection ends.
  await from.client.query('begin isolation level repeatable read');
  if (tables.length > 0) await from.client.query(`lock table ${namesOf(tables)} in share mode`);
  await to.client.query('begin');
  await copyRows(from, to, tables, log);
  for (const { name, position, isCalled } of await listSequences(from.client)) {
    await to.client.query('select setval($1::regclass, $2, $3)', [name, position, isCalled]);
  }
  await to.client.query('commit');
  for (const statement of await missingIndexes(from.client, to.client)) await to.client.query(statement);
  await to.client.query('analyze');
  log.info({}, 'Comparing the rows of both servers');
  await compare(from, to, tables);
  await renewTransactionNumbers(to, tables);
}

/** Creates the extensions that only the former database has. */
async function createExtensions(from: Side, to: Side): Promise<void> {
  for (const name of await missingObjects(from.client, to.client)) {
    const [, extension] = /^extension (.*)$/.exec(name) ?? [];
    if (extension === undefined) continue;
    await to.client.query(`create extension if not exists ${to.client.escapeIdentifier(extension)} cascade`);
  }
}

/** Refuses roles, tables and functions that Postern did not create, because the move would lose them. */
async function refuseOtherObjects(from: Side, to: Side): Promise<void> {
  const missing = await missingObjects(from.client, to.client);
  if (missing.length === 0) return;
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : '';
  throw refused(
    `The database contains what this release does not create: ${missing.slice(0, maxNamed).join(', ')}${more}. ` +
      'Remove it with the release of Postern that used the data last, then start again',
  );
}

const namesOf = (tables: readonly Table[]) => tables.map(({ name }) => name).join(', ');

async function copyRows(from: Side, to: Side, tables: readonly Table[], log: Log): Promise<void> {
  const enableTriggers = await disableTriggers(to.client);
  if (tables.length > 0) await to.client.query(`truncate ${namesOf(tables)}`);
  try {
    for (const { name, columns } of tables) {
      // The servers see their data directory by an inherited descriptor, or as the working directory. This process has the path.
      await from.client.query(`copy ${name} (${columns}) to '${join(inheritedPath(from.data.path), transferName)}'`);
      renameSync(join(from.data.ownPath, transferName), join(to.data.ownPath, transferName));
      await to.client.query(`copy ${name} (${columns}) from '${transferName}' with (freeze)`);
      rmSync(join(to.data.ownPath, transferName));
      log.info({ table: name }, 'Copied a table');
    }
  } finally {
    // On a full disk, this file would take the space that the former release needs.
    rmSync(join(from.data.ownPath, transferName), { force: true });
  }
  for (const statement of enableTriggers) await to.client.query(statement);
}

/**
 * The triggers have already changed these rows on the former server, so they must not run again.
 * @returns the statements that enable the triggers again
 */
async function disableTriggers(client: pg.Client): Promise<string[]> {
  // Turns off the triggers of foreign keys. All others are disabled by name.
  await client.query('set local session_replication_role = replica');
  const { rows } = await client.query<{ disable: string; enable: string }>(`
    select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as disable,
           format('alter table %s enable %s trigger %I', tgrelid::regclass,
                  case tgenabled when 'A' then 'always' when 'R' then 'replica' else '' end, tgname) as enable
    from pg_trigger where not tgisinternal and tgenabled <> 'D'`);
  for (const { disable } of rows) await client.query(disable);
  return rows.map(({ enable }) => enable);
}

async function compare(from: Side, to: Side, tables: readonly Table[]): Promise<void> {
  for (const table of tables) {
    const [expected, found] = await Promise.all([checksumOf(from.client, table), checksumOf(to.client, table)]);
    if (expected !== found) throw refused(`The copy of the table ${table.name} differs (${expected}, ${found})`);
  }
  const sequences = (list: readonly Sequence[]) => JSON.stringify(list);
  const [expected, found] = [await listSequences(from.client), await listSequences(to.client)];
  const copied = found.filter(({ name }) => expected.some((sequence) => sequence.name === name));
  if (sequences(expected) !== sequences(copied)) throw refused('The copy of the sequences differs');
}

/**
 * The statements that replace transaction numbers of the former server, by table. The new server could assign the same
 * numbers.
 */
const renewals = {
  audit_days: 'update audit_days set closing = pg_current_xact_id() where hash is null',
  address_blocks_version: 'update address_blocks_version set version = pg_current_xact_id()::text::bigint',
};

async function renewTransactionNumbers(to: Side, tables: readonly Table[]): Promise<void> {
  for (const [table, statement] of Object.entries(renewals)) {
    if (tables.some(({ name }) => name === table)) await to.client.query(statement);
  }
}

function refused(reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError('wrong_major_version', `${reason}. The data was not changed.`);
}
