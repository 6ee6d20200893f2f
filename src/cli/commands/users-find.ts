import type { Command } from 'commander';
import type { User } from '../../contract/user.js';
import { readListQuery } from '../../http/lists/keyset-list.js';
import { userFilterFields } from '../../users/search/fields.js';
import { readSearch } from '../../users/search/text.js';
import { openUsers, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { findExactly, userArgument } from '../support/find-user.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';

interface ListOptions {
  readonly search?: string;
  readonly filter?: string;
  readonly sort?: string;
  readonly since?: string;
  readonly page?: string;
  readonly limit?: string;
  readonly json?: true;
}

const sortable = ['created_at', 'updated_at'] as const;

/** Registers `postern users list` and `postern users find`. */
export function usersFindCommands(users: Command, io: Io): void {
  users
    .command('list')
    .description('list users, newest first')
    .option('--search <text>', 'a part of a name, user name, mail address or phone number, or an id')
    .option('--filter <conditions>', 'conditions field:op:value, joined by commas, as in the admin API')
    .option('--sort <fields>', 'created_at or updated_at, with :asc or :desc')
    .option('--since <time>', 'only users created after this time, such as 2030-01-01T00:00:00Z')
    .option('--limit <count>', 'users on a page, at most 100 (default 20)')
    .option('--page <number>', 'number of the page (default 1)')
    .option('--json', 'print the users as JSON')
    .addHelpText('after', '\nExample:\n  postern users list --filter email:like:example.com,status:eq:active')
    .action((options: ListOptions) => listUsers(io, options));
  users
    .command('find')
    .description('print the user with this id or identity, else the users with this part of a name or an identity')
    .argument(...partArgument)
    .option('--json', 'print the user as JSON, or an array if several users match')
    .addHelpText('after', '\nExample:\n  postern users find lovelace')
    .action((text: string, { json }: { json?: true }) => findUsers(io, text, json === true));
}

const partArgument = [
  '<user>',
  `${userArgument[1]}, or a part of a name, user name, mail address or phone number`,
] as const;

/** Prints the one user that the text names, or all users that it is a part of. */
async function findUsers(io: Io, text: string, json: boolean): Promise<void> {
  const search = { search: text, limit: '100' };
  const found = await withDatabase(io, async (database, config) => {
    const users = await openUsers(io, database, config);
    const exact = await findExactly(database, users, config, text);
    if (exact === undefined && text.trim() === '') return { items: [], hasMore: false, partial: undefined };
    return exact ?? users.list(readListQuery('users', search, sortable, userFilterFields, readSearch));
  });
  if (!('items' in found)) return printUser(io, found, json);
  const [first, ...others] = found.items;
  if (first === undefined) throw new CommandError(`There is no user ${text}.`);
  if (others.length === 0) printUser(io, first, json);
  else printUsers(io, found.items, json);
  if (found.partial !== undefined) printLine(io.stderr, 'The search took too long: users may be missing.');
  if (found.hasMore) printLine(io.stderr, 'There are more: type a longer part, or use users list.');
}

function printUsers(io: Io, users: readonly User[], json: boolean): void {
  if (json) printJson(io.stdout, users);
  else printTable(io.stdout, [['ID', 'USERNAME', 'EMAIL', 'PHONE', 'ROLE', 'STATUS', 'LOCK'], ...users.map(rowOf)]);
}

async function listUsers(io: Io, { json, ...parameters }: ListOptions): Promise<void> {
  const query = readListQuery('users', parameters, sortable, userFilterFields, readSearch);
  const { items, hasMore, partial } = await withDatabase(io, async (database, config) =>
    (await openUsers(io, database, config)).list(query),
  );
  if (json !== true && items.length === 0) printLine(io.stdout, 'There are no such users.');
  else printUsers(io, items, json === true);
  if (partial !== undefined) printLine(io.stderr, 'The search took too long: users may be missing.');
  if (hasMore) printLine(io.stderr, `There are more: --page ${query.page + 1}`);
}

const rowOf = (user: User) => {
  const { id, username, email, phone, role, status } = user;
  return [id, username ?? '-', email ?? '-', phone ?? '-', role, status, lockText(user) ?? '-'];
};

/** The operator's lock, and the lock after wrong secrets. */
function lockText({ lock, guess_locks: guessLocks }: User): string | undefined {
  const endOf = ({ permanent, until }: { permanent: boolean; until: string | null }) =>
    permanent ? 'permanent' : `until ${until}`;
  const [guessLock] = guessLocks;
  const texts = [lock && endOf(lock), guessLock && `by wrong secrets ${endOf(guessLock)}`];
  return texts.filter((text) => typeof text === 'string').join(', ') || undefined;
}

/** Prints one user; without `json`, only the fields that have a value. */
export function printUser({ stdout }: Io, user: User, json: boolean): void {
  if (json) {
    printJson(stdout, user);
    return;
  }
  const { id, username, email, phone, name, role, status, created_at } = user;
  const reason = user.lock?.reason ?? null;
  const fields = { id, username, email, phone, name, role, status, lock: lockText(user), reason, created_at };
  printTable(
    stdout,
    Object.entries(fields).flatMap(([field, value]) => (value ? [[field, value]] : [])),
  );
}
