import type { Command } from 'commander';
import type { User } from '../../contract/user.js';
import { readListQuery } from '../../http/lists/keyset-list.js';
import { userFilterFields } from '../../users/search/fields.js';
import { readSearch } from '../../users/search/text.js';
import { openUsers, withDatabase } from '../support/dependencies.js';
import { findUser, userArgument } from '../support/find-user.js';
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
    .description('print one user')
    .argument(...userArgument)
    .option('--json', 'print the user as JSON')
    .action(async (text: string, { json }: { json?: true }) => {
      const user = await withDatabase(io, async (database, config) =>
        findUser(database, await openUsers(io, database, config), config, text),
      );
      printUser(io, user, json === true);
    });
}

async function listUsers(io: Io, { json, ...parameters }: ListOptions): Promise<void> {
  const query = readListQuery('users', parameters, sortable, userFilterFields, readSearch);
  const { items, hasMore, partial } = await withDatabase(io, async (database, config) =>
    (await openUsers(io, database, config)).list(query),
  );
  if (json === true) printJson(io.stdout, items);
  else if (items.length === 0) printLine(io.stdout, 'There are no such users.');
  else printTable(io.stdout, [['ID', 'USERNAME', 'EMAIL', 'PHONE', 'ROLE', 'STATUS', 'LOCK'], ...items.map(rowOf)]);
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
