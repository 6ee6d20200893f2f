import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import type { NewUser, User } from '../../contract/user.js';
import { roles } from '../../contract/user-fields.js';
import { cliOrigin, openUsers, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printTable } from '../support/io.js';
import { usersFindCommands } from './users-find.js';
import { usersImportCommand } from './users-import.js';
import { usersLockCommands } from './users-lock.js';

interface CreateOptions {
  readonly username?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly externalId?: string;
  readonly name?: string;
  readonly password?: string;
  readonly passwordStdin?: true;
  readonly role?: User['role'];
  readonly json?: true;
}

/** Registers `postern users` with its subcommands. */
export function usersCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  const users = program.command('users').description('create, import, find, lock, unlock and log out users');
  usersImportCommand(users, io, exitWith);
  usersFindCommands(users, io);
  usersLockCommands(users, io);
  users
    .command('create')
    .description('create a user with one to three identities')
    .option('--username <name>', 'identity: a name')
    .option('--email <address>', 'identity: a mail address')
    .option('--phone <number>', 'identity: a phone number, such as +15551234567')
    .option('--external-id <id>', 'the id of the user in your other systems; users cannot log in with it')
    .option('--name <text>', 'the display name')
    .option('--password-stdin', 'read a password for one login from standard input; the user then chooses another')
    .addOption(
      new Option(
        '--password <text>',
        'a password for one login; other accounts of this machine can see it while the command runs',
      ).conflicts('passwordStdin'),
    )
    .addOption(new Option('--role <role>', 'what the user may do in the admin API').choices(roles).default('user'))
    .option('--json', 'print the user as JSON')
    .addHelpText('after', '\nExample:\n  postern users create --username ada --password-stdin < password.txt')
    .action((options: CreateOptions) => createUser(io, options));
}

async function createUser(io: Io, options: CreateOptions): Promise<void> {
  const input = toNewUser(options, options.passwordStdin === true ? await readPassword(io) : options.password);
  const user = await withDatabase(io, async (database, config) => {
    const users = await openUsers(io, database, config);
    const prepared = await users.prepare(input, undefined, { operator: true, client: null });
    return database.transaction((tx) => users.create(tx, prepared, cliOrigin));
  });
  if (options.json === true) return printJson(io.stdout, user);
  const { id, username, email, phone, external_id, name, role } = user;
  const fields = Object.entries({ id, username, email, phone, external_id, name, role }).filter(([, value]) => value);
  printTable(
    io.stdout,
    fields.map(([field, value]) => [field, String(value)]),
  );
}

function toNewUser(options: CreateOptions, password: string | undefined): NewUser {
  const { username, email, phone, externalId, name, role } = options;
  return {
    ...(username !== undefined && { username }),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(externalId !== undefined && { external_id: externalId }),
    ...(name !== undefined && { name }),
    ...(password !== undefined && { password }),
    ...(role !== undefined && { role }),
  };
}

/** Reads the password from standard input, without a line end at its end. */
async function readPassword({ stdin }: Io): Promise<string> {
  if (stdin === undefined) throw new CommandError('There is no standard input to read the password from.');
  return (await text(stdin)).replace(/\r?\n$/, '');
}
