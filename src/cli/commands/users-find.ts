import type { Command } from 'commander';
import { userFilterFields } from '../../authentication/users/search.js';
import type { Users } from '../../authentication/users/users.js';
import { identityTypes } from '../../contract/authentication.js';
import type { User } from '../../contract/user.js';
import { readListQuery } from '../../http/admin-list.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { CommandError } from '../failure.js';
import { type Io, printJson, printLine, printTable } from '../io.js';
import { openUsers, withDatabase } from '../parts.js';

interface ListOptions {
  readonly filter?: string;
  readonly sort?: string;
  readonly since?: string;
  readonly page?: string;
  readonly limit?: string;
  readonly json?: true;
}

/** What names one user on the command line. */
export const userArgument = ['<user>', 'an id, user name, mail address or phone number'] as const;

const sortable = ['created_at', 'updated_at'] as const;

export function usersFindCommands(users: Command, io: Io): void {
  users
    .command('list')
    .description('list users, newest first')
    .option('--filter <conditions>', 'conditions field:op:value, joined by commas, as in the admin API')
    .option('--sort <fields>', 'created_at or updated_at, with :asc or :desc')
    .option('--since <time>', 'only users created after this time, such as 2030-01-01T00:00:00Z')
    .option('--limit <count>', 'users on a page, at most 100; 20 without it')
    .option('--page <number>', 'which page; 1 without it')
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
        findUser(await openUsers(io, database, config), text),
      );
      printUser(io, user, json === true);
    });
}

/** @throws CommandError unless the text names exactly one user */
export async function findUser(users: Users, text: string): Promise<User> {
  const id = parseId(text);
  const found = await (id === undefined ? findByIdentity(users, text) : findById(users, id));
  const [user, ...others] = found;
  if (user === undefined) throw new CommandError(`There is no user ${text}.`);
  if (others.length > 0) {
    throw new CommandError(`${text} names several users, use an id: ${found.map((each) => each.id).join(', ')}`);
  }
  return user;
}

async function findById(users: Users, id: string): Promise<User[]> {
  try {
    return [await users.get(id)];
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return [];
    throw error;
  }
}

async function findByIdentity(users: Users, text: string): Promise<User[]> {
  const value = text.replace(/[\\:,|]/g, '\\$&');
  const pages = identityTypes.map((type) =>
    users.list(readListQuery({ filter: `${type}:eq:${value}` }, sortable, userFilterFields)),
  );
  const found = (await Promise.all(pages)).flatMap(({ items }) => items);
  return [...new Map(found.map((user) => [user.id, user])).values()];
}

async function listUsers(io: Io, { json, ...given }: ListOptions): Promise<void> {
  const query = readListQuery(given, sortable, userFilterFields);
  const { items, hasMore } = await withDatabase(io, async (database, config) =>
    (await openUsers(io, database, config)).list(query),
  );
  if (json === true) printJson(io.stdout, items);
  else if (items.length === 0) printLine(io.stdout, 'There are no such users.');
  else printTable(io.stdout, [['ID', 'USERNAME', 'EMAIL', 'PHONE', 'ROLE', 'STATUS', 'LOCK'], ...items.map(rowOf)]);
  if (hasMore) printLine(io.stderr, `There are more: --page ${query.page + 1}`);
}

const rowOf = (user: User) => {
  const { id, username, email, phone, role, status } = user;
  return [...[id, username ?? '-', email ?? '-', phone ?? '-', role, status], lockText(user) ?? '-'];
};

/** The operator's lock, and those by wrong secrets. */
function lockText({ lock, guess_locks: guessLocks }: User): string | undefined {
  const text = ({ permanent, until }: { permanent: boolean; until: string | null }) =>
    permanent ? 'permanent' : `until ${until}`;
  const [guesses] = guessLocks;
  const texts = [lock && text(lock), guesses && `by wrong secrets ${text(guesses)}`];
  return texts.filter((one) => typeof one === 'string').join(', ') || undefined;
}

/** For people only what has a value. */
export function printUser({ stdout }: Io, user: User, json: boolean): void {
  if (json) {
    printJson(stdout, user);
    return;
  }
  const { id, username, email, phone, name, role, status, created_at } = user;
  const reason = user.lock?.reason ?? null;
  const shown = { id, username, email, phone, name, role, status, lock: lockText(user), reason, created_at };
  printTable(
    stdout,
    Object.entries(shown).flatMap(([field, value]) => (value ? [[field, value]] : [])),
  );
}
