import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LockRequest, User } from '../../contract/user.js';
import type { Database, Queryable, Transaction } from '../../database/database.js';
import { bound, compose, sql } from '../../database/sql.js';
import { parseDuration } from '../../lib/times.js';
import type { Users } from '../../users/users.js';
import { cliOrigin, openUsers, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { findUser, userArgument } from '../support/find-user.js';
import { type Io, printLine } from '../support/io.js';
import { printUser } from './users-find.js';

interface LockOptions {
  readonly until?: string;
  readonly for?: number;
  readonly permanent?: true;
  readonly reason?: string;
  readonly json?: true;
}

const maxReasonLength = 1024;

/** Registers `postern users lock`, `unlock` and `logout`. */
export function usersLockCommands(users: Command, io: Io): void {
  users
    .command('lock')
    .description('lock a user: until the end of the lock, logins and sessions are refused')
    .argument(...userArgument)
    .addOption(
      new Option('--until <time>', 'when the lock ends, such as 2030-01-01T00:00:00Z').conflicts(['for', 'permanent']),
    )
    .addOption(
      new Option('--for <duration>', 'how long the lock lasts: 30m, 12h or 7d')
        .argParser(parseLockDuration)
        .conflicts('permanent'),
    )
    .option('--permanent', 'the lock lasts until an operator unlocks the user')
    .option('--reason <text>', 'the reason, shown to operators', parseReason)
    .option('--json', 'print the user as JSON')
    .addHelpText('after', '\nExample:\n  postern users lock ada --for 12h --reason "Reported stolen"')
    .action((text: string, options: LockOptions) => lockUser(io, text, options));
  users
    .command('unlock')
    .description('unlock a user, and reset the count of wrong secrets')
    .argument(...userArgument)
    .option('--json', 'print the user as JSON')
    .action(async (text: string, { json }: { json?: true }) => {
      const unlock: UserAction<User> = (users, tx, id) => users.unlock(tx, id, cliOrigin);
      printUser(io, await changeUser(io, text, unlock), json === true);
    });
  users
    .command('logout')
    .description('end every login and session of a user')
    .argument(...userArgument)
    .action(async (text: string) => {
      const endedCount = await changeUser(io, text, (users, tx, id) => users.logout(tx, id, cliOrigin));
      printLine(io.stdout, `Ended ${endedCount} ${endedCount === 1 ? 'login' : 'logins'}.`);
    });
}

function parseLockDuration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds === 0)
    throw new InvalidArgumentError('Write a duration such as 30m, 12h or 7d.');
  return milliseconds;
}

function parseReason(text: string): string {
  if (text === '' || [...text].length > maxReasonLength) {
    throw new InvalidArgumentError(`A reason has 1 to ${maxReasonLength} characters.`);
  }
  return text;
}

async function lockUser(io: Io, text: string, options: LockOptions): Promise<void> {
  const { permanent, until, reason, json } = options;
  if (permanent === undefined && until === undefined && options.for === undefined) {
    throw new CommandError('Give the end of the lock: --until <time>, --for <duration> or --permanent.');
  }
  const user = await changeUser(io, text, async (users, tx, id) => {
    const end = options.for === undefined ? until : await timeAfter(tx, options.for);
    const request: LockRequest = {
      ...(permanent === true && { permanent }),
      ...(end !== undefined && { until: end }),
      ...(reason !== undefined && { reason }),
    };
    return users.lock(tx, id, request, cliOrigin);
  });
  printUser(io, user, json === true);
}

/** The time after so many milliseconds, by the database's clock, which also ends the lock. */
async function timeAfter(handle: Queryable, milliseconds: number): Promise<string | undefined> {
  const [row] = await handle.query(
    compose<{ at: string }>(sql`select db_now() + ${bound(milliseconds)}::float8 * interval '1 millisecond' as at`),
  );
  return row?.at;
}

type UserAction<T> = (users: Users, tx: Transaction, id: string) => Promise<T>;

function changeUser<T>(io: Io, text: string, action: UserAction<T>): Promise<T> {
  return withDatabase(io, async (database: Database, config) => {
    const users = await openUsers(io, database, config);
    const { id } = await findUser(database, users, config, text);
    return database.user(id).transaction((tx) => action(users, tx, id));
  });
}
