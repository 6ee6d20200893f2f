import { type Command, Option } from 'commander';
import { consoleUrl } from '../../app/base/console-url.js';
import type { Config } from '../../config/config.js';
import { type SetUpRole, setUpRoles } from '../../contract/console/set-up.js';
import type { Database } from '../../database/database.js';
import { createSetUpLink, setUpUrl } from '../../sessions/setup-links.js';
import { createEnrollmentLinks } from '../../users/enrollment-links.js';
import { cliOrigin, openUsers, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { findUser } from '../support/find-user.js';
import { type Io, printJson, printTable } from '../support/io.js';

interface InviteOptions {
  readonly user?: string;
  readonly role: SetUpRole;
  readonly json?: true;
}

/** Registers `postern operators` with its subcommand. */
export function operatorsCommand(program: Command, io: Io): void {
  const operators = program
    .command('operators')
    .description('invite people to administer Postern with their own login');
  operators
    .command('invite')
    .description('print a link that gives a role to a new person, or to an existing user')
    .addOption(new Option('--role <role>', 'what the person may do').choices([...setUpRoles]).default('operator'))
    .option('--user <id or identity>', 'the id, username, mail address or phone number of an existing user')
    .option('--json', 'print the link as JSON')
    .addHelpText(
      'after',
      '\nThe person with the link creates an account in the console, with a password and a second factor. With --user, the\nuser gets the role, logs in and enrols a second factor with the link. A link works once, within 30 minutes.\n\nExamples:\n  postern operators invite --role support\n  postern operators invite --role support --user ada',
    )
    .action((options: InviteOptions) => invite(io, options));
}

async function invite(io: Io, options: InviteOptions): Promise<void> {
  const { user, role, json } = options;
  const invitation = await withDatabase(io, (database, config) =>
    user === undefined
      ? inviteNewUser(database, config, role)
      : inviteExistingUser(io, database, config, { user, role }),
  );
  if (json === true) return printJson(io.stdout, invitation);
  printTable(io.stdout, [
    ...(invitation.user_id === undefined ? [] : [['user', invitation.user_id]]),
    ['role', invitation.role],
    ['link', invitation.url],
    ['expires', invitation.expires_at],
  ]);
}

interface Invitation {
  /** Undefined: a new user. */
  readonly user_id?: string;
  readonly role: SetUpRole;
  readonly url: string;
  readonly expires_at: string;
}

async function inviteNewUser(database: Database, config: Config, role: SetUpRole): Promise<Invitation> {
  if (config.CONSOLE === 'off') {
    throw new CommandError('The link opens the console, and CONSOLE is off. Name an existing user with --user.');
  }
  const link = await database.transaction((tx) => createSetUpLink(tx, role, cliOrigin));
  return { role, url: setUpUrl(consoleUrl(config), link), expires_at: link.expires_at };
}

async function inviteExistingUser(
  io: Io,
  database: Database,
  config: Config,
  { user: idOrIdentity, role }: { readonly user: string; readonly role: SetUpRole },
): Promise<Invitation> {
  const users = await openUsers(io, database, config);
  const links = createEnrollmentLinks(() => consoleUrl(config));
  const { id } = await findUser(database, users, config, idOrIdentity);
  const change = await users.prepareChange(id, { role }, { client: null });
  return database.user(id).transaction(async (tx) => {
    const user = await users.getForUpdate(tx, id);
    // A change to the same role would suspend it until the second factor is enrolled.
    if (user.role !== role) await users.change(tx, id, change, cliOrigin);
    const { url, expires_at } = await links.create(tx, id, cliOrigin);
    return { user_id: id, role, url, expires_at };
  });
}
