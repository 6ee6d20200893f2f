import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Users } from '../../authentication/users/users.js';
import type { LockRequest } from '../../contract/user.js';
import { type Database, type Queryable, sql, type Transaction } from '../../database/database.js';
import { parseDuration } from '../../lib/durations.js';
import { CommandError } from '../failure.js';
import { type Io, printLine } from '../io.js';
import { cliOrigin, openUsers, withDatabase } from '../parts.js';
import { findUser, printUser, userArgument } from './users-find.js';

interface LockOptions {
  readonly until?: string;
  readonly for?: number;
  readonly permanent?: true;
  readonly reason?: string;
  readonly json?: true;
}

const longestReason = 1024;

export function usersLockCommands(users: Command, io: Io): void {
  users
    .command('lock')
    .description('lock a user: no login and no session is valid meanwhile')
    .argument(...userArgument)
    .addOption(
      new Option('--until <time>', 'when the lock ends, such as 2030-01-01T00:00:00Z').conflicts(['for', 'permanent']),
    )
    .addOption(
      new Option('--for <duration>', 'how long it lasts: 30m, 12h or 7d').argParser(parseFor).conflicts('permanent'),
    )
    .option('--permanent', 'until somebody unlocks the user')
    .option('--reason <text>', 'why, for operators', parseReason)
    .option('--json', 'print the user as JSON')
    .addHelpText('after', '\nExample:\n  postern users lock ada --for 12h --reason "Reported stolen"')
    .action((text: string, options: LockOptions) => lockUser(io, text, options));
  users
    .command('unlock')
    .description('unlock a user; wrong guesses are forgotten too')
    .argument(...userArgument)
    .option('--json', 'print the user as JSON')
    .action(async (text: string, { json }: { json?: true }) => {
      const act = (users: Users, tx: Transaction, id: string) => users.unlock(tx, id, cliOrigin);
      printUser(io, await change(io, text, act), json === true);
    });
  users
    .command('logout')
    .description('end every login and session of a user')
    .argument(...userArgument)
    .action(async (text: string) => {
      const ended = await change(io, text, (users, tx, id) => users.logout(tx, id, cliOrigin));
      printLine(io.stdout, `Ended ${ended} ${ended === 1 ? 'login' : 'logins'}.`);
    });
}

function parseFor(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds === 0) throw new InvalidArgumentError('Such as 30m, 12h or 7d.');
  return milliseconds;
}

function parseReason(text: string): string {
  if (text === '' || [...text].length > longestReason) {
    throw new InvalidArgumentError(`A reason has 1 to ${longestReason} characters.`);
  }
  return text;
}

async function lockUser(io: Io, text: string, options: LockOptions): Promise<void> {
  const { permanent, until, reason, json } = options;
  if (permanent === undefined && until === undefined && options.for === undefined) {
    throw new CommandError('Say how long: --until <time>, --for <duration> or --permanent.');
  }
  const user = await change(io, text, async (users, tx, id) => {
    const end = options.for === undefined ? until : await timeIn(tx, options.for);
    const request: LockRequest = {
      ...(permanent === true && { permanent }),
      ...(end !== undefined && { until: end }),
      ...(reason !== undefined && { reason }),
    };
    return users.lock(tx, id, request, cliOrigin);
  });
  printUser(io, user, json === true);
}

/** By the database's clock, which also decides when the lock ends. */
async function timeIn(handle: Queryable, milliseconds: number): Promise<string | undefined> {
  const [row] = await handle.query<{ at: string }>(sql(`select db_now() + $1 * interval '1 millisecond' as at`), [
    milliseconds,
  ]);
  return row?.at;
}

function change<T>(io: Io, text: string, act: (users: Users, tx: Transaction, id: string) => Promise<T>): Promise<T> {
  return withDatabase(io, async (database: Database, config) => {
    const users = await openUsers(io, database, config);
    const { id } = await findUser(users, text);
    return database.transaction((tx) => act(users, tx, id));
  });
}
