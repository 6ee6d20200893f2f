import type { Command } from 'commander';
import type { IssuedTestIdentity, NewTestIdentity, TestIdentity } from '../../contract/users/test-identity.js';
import { createTestIdentities, type TestIdentities } from '../../credentials/test-identities/test-identities.js';
import type { Database } from '../../database/database.js';
import { needSecretKeys } from '../../keys/secret-key-file.js';
import { createSecretKeys } from '../../lib/crypto/secret-keys.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { cliOrigin, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';
import { readAll } from '../support/read-all.js';

interface CreateOptions {
  readonly until: string;
  readonly code?: string;
  readonly json?: true;
}

/** Registers `postern test-identities` with its subcommands. */
export function testIdentitiesCommand(program: Command, io: Io): void {
  const identities = program.command('test-identities').description('let reviewers log in with a fixed code');
  identities
    .command('list')
    .description('list the test identities, without their codes')
    .option('--json', 'print them as JSON')
    .action((options: { json?: true }) => listIdentities(io, options.json === true));
  identities
    .command('create')
    .description('give an address a fixed code for logins; prints the code')
    .argument('<address>', 'a phone number or a mail address')
    .requiredOption('--until <time>', 'when it ends, at most 90 days from now, such as 2030-01-01T00:00:00Z')
    .option('--code <digits>', 'six digits (default: random ones)')
    .option('--json', 'print the test identity as JSON')
    .action((address: string, options: CreateOptions) => createIdentity(io, address, options));
  identities
    .command('delete')
    .description('delete a test identity: its code is refused from now on')
    .argument('<id>', 'the id that `test-identities list` shows')
    .action((id: string) => deleteIdentity(io, id));
}

async function listIdentities(io: Io, json: boolean): Promise<void> {
  const identities = await withIdentities(io, allIdentities);
  if (json) return printJson(io.stdout, identities);
  if (identities.length === 0) return printLine(io.stdout, 'There are no test identities.');
  const rows = identities.map(({ id, identity, user_id, expires_at }) => [
    id,
    identity.value,
    user_id ?? '',
    expires_at,
  ]);
  printTable(io.stdout, [['ID', 'ADDRESS', 'USER', 'ENDS'], ...rows]);
}

const allIdentities = ({ list }: TestIdentities) => readAll<TestIdentity>(list);

async function createIdentity(io: Io, address: string, { until, code, json }: CreateOptions): Promise<void> {
  if (code !== undefined && !/^[0-9]{6}$/.test(code)) throw new CommandError('--code must be six digits.');
  const input: NewTestIdentity = {
    identity: { type: address.includes('@') ? 'email' : 'phone', value: address },
    ...(code !== undefined && { code }),
    expires_at: until,
  };
  const testIdentity: IssuedTestIdentity = await withIdentities(io, (identities, database) =>
    database.transaction((tx) => identities.create(tx, input, cliOrigin)),
  );
  if (json === true) return printJson(io.stdout, testIdentity);
  printLine(
    io.stdout,
    `${testIdentity.identity.value} takes the code ${testIdentity.code} until ${testIdentity.expires_at}.`,
  );
  if (testIdentity.user_id === null) printLine(io.stderr, 'No user has this address yet.');
}

async function deleteIdentity(io: Io, text: string): Promise<void> {
  const notFoundError = new CommandError(`There is no test identity ${text}.`);
  const id = parseId(text);
  if (id === undefined) throw notFoundError;
  try {
    await withIdentities(io, (identities, database) =>
      database.transaction((tx) => identities.remove(tx, id, cliOrigin)),
    );
  } catch (error) {
    throw error instanceof Problem && error.code === 'not_found' ? notFoundError : error;
  }
  printLine(io.stdout, `Deleted ${id}.`);
}

async function withIdentities<T>(
  io: Io,
  work: (identities: TestIdentities, database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(io, async (database, config) => {
    const keys = createSecretKeys(await needSecretKeys(config));
    return work(createTestIdentities({ database, keys, defaultRegion: config.DEFAULT_REGION }), database);
  });
}
