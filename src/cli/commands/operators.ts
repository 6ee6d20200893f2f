import { type Command, Option } from 'commander';
import { canonicalIdentity } from '../../authentication/identities/identity.js';
import { identityDigest } from '../../authentication/identities/identity-digest.js';
import { createEnrollmentLinks } from '../../authentication/users/enrollment-links.js';
import type { Config } from '../../config.js';
import { identityTypes } from '../../contract/authentication.js';
import { roles } from '../../contract/user.js';
import { type Database, sql } from '../../database/database.js';
import { parseId } from '../../lib/ids.js';
import { CommandError } from '../failure.js';
import { type Io, printJson, printTable } from '../io.js';
import { cliOrigin, openUsers, withDatabase } from '../parts.js';

interface InviteOptions {
  readonly user: string;
  readonly role: 'support' | 'operator';
  readonly json?: true;
}

export function operatorsCommand(program: Command, io: Io): void {
  const operators = program.command('operators').description('let people administer with a login of their own');
  operators
    .command('invite')
    .description('give a user a role, and print the link by which the role takes effect')
    .requiredOption('--user <id or identity>', 'who: the id, username, mail address or phone number')
    .addOption(
      new Option('--role <role>', 'what the user may do')
        .choices(roles.filter((role) => role !== 'user'))
        .default('operator'),
    )
    .option('--json', 'print the link as JSON')
    .addHelpText(
      'after',
      '\nThe user logs in and enrols a second factor with the link, which is good once and for 30 minutes.\n\nExample:\n  postern operators invite --user ada --role support',
    )
    .action((options: InviteOptions) => invite(io, options));
}

async function invite(io: Io, { user: named, role, json }: InviteOptions): Promise<void> {
  const invited = await withDatabase(io, async (database, config) => {
    const users = await openUsers(io, database, config);
    const links = createEnrollmentLinks(() => publicUrl(config));
    const id = await findNamed(database, named, config);
    const change = await users.prepareChange(id, { role });
    return database.transaction(async (tx) => {
      const user = await users.hold(tx, id);
      // A role that stays as it is goes on meanwhile.
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

/** @throws CommandError when nobody, or more than one user, is named so */
async function findNamed(database: Database, named: string, { DEFAULT_REGION }: Config): Promise<string> {
  const identities = identityTypes.flatMap((type) => canonicalIdentity(type, named, DEFAULT_REGION) ?? []);
  const found = await database.query<{ id: string }>(
    sql('select id from users where id = $1 union select user_id from identities where digest = any($2)'),
    [parseId(named) ?? null, identities.map(identityDigest)],
  );
  const [user, another] = found;
  if (user === undefined) throw new CommandError(`There is no user ${named}.`);
  if (another !== undefined) throw new CommandError(`${named} names more than one user: give the id.`);
  return user.id;
}
