import { type Command, Option } from 'commander';
import type { Config } from '../../config/config.js';
import { roles } from '../../contract/user.js';
import { createEnrollmentLinks } from '../../users/enrollment-links.js';
import { cliOrigin, openUsers, withDatabase } from '../support/dependencies.js';
import { findUser } from '../support/find-user.js';
import { type Io, printJson, printTable } from '../support/io.js';

interface InviteOptions {
  readonly user: string;
  readonly role: 'support' | 'operator';
  readonly json?: true;
}

export function operatorsCommand(program: Command, io: Io): void {
  const operators = program.command('operators').description('let people administer with their own login');
  operators
    .command('invite')
    .description('give a user a role, and print the link that activates the role')
    .requiredOption('--user <id or identity>', 'the id, username, mail address or phone number of the user')
    .addOption(
      new Option('--role <role>', 'what the user may do')
        .choices(roles.filter((role) => role !== 'user'))
        .default('operator'),
    )
    .option('--json', 'print the link as JSON')
    .addHelpText(
      'after',
      '\nThe user logs in and enrols a second factor with the link. It works once, within 30 minutes.\n\nExample:\n  postern operators invite --user ada --role support',
    )
    .action((options: InviteOptions) => invite(io, options));
}

async function invite(io: Io, { user: named, role, json }: InviteOptions): Promise<void> {
  const invited = await withDatabase(io, async (database, config) => {
    const users = await openUsers(io, database, config);
    const links = createEnrollmentLinks(() => publicUrl(config));
    const { id } = await findUser(database, users, config, named);
    const change = await users.prepareChange(id, { role });
    return database.spanningFor(id).transaction(async (tx) => {
      const user = await users.getForUpdate(tx, id);
      // A change to the same role would suspend it until the second factor is enrolled.
      if (user.role !== role) await users.change(tx, id, change, cliOrigin);
      const { url, expires_at } = await links.create(tx, id, cliOrigin);
      return { user_id: id, role, url, expires_at };
    });
  });
  if (json === true) return printJson(io.stdout, invited);
  printTable(io.stdout, [
    ['user', invited.user_id],
    ['role', role],
    ['link', invited.url],
    ['expires', invited.expires_at],
  ]);
}

function publicUrl({ PUBLIC_URL, HOST, PORT }: Config): string {
  return PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
}
