import { type Command, InvalidArgumentError } from 'commander';
import { type ApiKey, type Scope, scopes } from '../../contract/administration.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { createApiKeys } from '../../sessions/api-keys.js';
import { cliOrigin, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';
import { readAll } from '../support/read-all.js';

interface CreateOptions {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expiresAt?: string;
  readonly json?: true;
}

/** Registers `postern keys` with its subcommands. */
export function keysCommand(program: Command, io: Io): void {
  const keys = program.command('keys').description("manage the API keys of the app's own servers");
  keys
    .command('create')
    .description('create a key; its token is shown only now')
    .requiredOption('--name <text>', 'what the key is for', parseName)
    .requiredOption('--scopes <list>', `joined by commas: ${scopes.join(', ')}`, parseScopes)
    .option('--expires-at <time>', 'when the key expires, such as 2030-01-01T00:00:00Z (default never)')
    .option('--json', 'print the key as JSON')
    .addHelpText('after', '\nExample:\n  postern keys create --name billing --scopes notifications:write')
    .action((options: CreateOptions) => createKey(io, options));
  keys
    .command('list')
    .description('list the keys that are not revoked')
    .option('--json', 'print the keys as JSON')
    .action((options: { json?: true }) => listKeys(io, options.json === true));
  keys
    .command('revoke')
    .description('revoke a key: the next request with it is refused')
    .argument('<id>', 'the id that `keys list` shows')
    .action((id: string) => revokeKey(io, id));
}

function parseName(name: string): string {
  if (name === '' || name.length > 100) throw new InvalidArgumentError('A name has 1 to 100 characters.');
  return name;
}

function parseScopes(list: string): Scope[] {
  const requested = [...new Set(list.split(',').map((scope) => scope.trim()))];
  const validScopes = scopes.filter((scope) => requested.includes(scope));
  if (validScopes.length !== requested.length) throw new InvalidArgumentError(`Allowed are: ${scopes.join(', ')}.`);
  return validScopes;
}

async function createKey(io: Io, { name, scopes, expiresAt, json }: CreateOptions): Promise<void> {
  const input = { name, scopes, ...(expiresAt !== undefined && { expires_at: expiresAt }) };
  const key = await withDatabase(io, (database) =>
    database.transaction((tx) => createApiKeys({ database }).create(tx, input, cliOrigin)),
  );
  if (json === true) return printJson(io.stdout, key);
  printTable(io.stdout, [
    ['id', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(',')],
    ['token', key.token],
  ]);
}

async function listKeys(io: Io, json: boolean): Promise<void> {
  const keys = await withDatabase(io, (database) => readAll<ApiKey>(createApiKeys({ database }).list));
  if (json) return printJson(io.stdout, keys);
  if (keys.length === 0) return printLine(io.stdout, 'There are no keys.');
  const rows = keys.map(({ id, name, scopes, expires_at, last_used_at }) => [
    id,
    name,
    scopes.join(','),
    last_used_at ?? 'never',
    expires_at ?? 'never',
  ]);
  printTable(io.stdout, [['ID', 'NAME', 'SCOPES', 'LAST USED', 'EXPIRES'], ...rows]);
}

async function revokeKey(io: Io, text: string): Promise<void> {
  const id = parseId(text);
  if (id === undefined) throw new CommandError(`There is no key ${text}.`);
  await withDatabase(io, async (database) => {
    try {
      await database.transaction((tx) => createApiKeys({ database }).revoke(tx, id, cliOrigin));
    } catch (error) {
      const isUnknown = error instanceof Problem && error.code === 'not_found';
      throw isUnknown ? new CommandError(`There is no key ${id}.`) : error;
    }
  });
  printLine(io.stdout, `Revoked ${id}.`);
}
