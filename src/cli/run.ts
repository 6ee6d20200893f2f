import { Command, CommanderError } from 'commander';
import { version } from '../lib/own-package.js';
import { auditCommand } from './commands/audit.js';
import { backupCommand } from './commands/backup.js';
import { blocksCommand } from './commands/blocks.js';
import { completionCommand } from './commands/completion.js';
import { databaseCommand } from './commands/database.js';
import { doctorCommand } from './commands/doctor.js';
import { helpCommand } from './commands/help.js';
import { imagesCommand } from './commands/images.js';
import { keysCommand } from './commands/keys.js';
import { messagesCommand } from './commands/messages.js';
import { migrateCommand } from './commands/migrate.js';
import { notificationsCommand } from './commands/notifications.js';
import { operatorsCommand } from './commands/operators.js';
import { schemesCommand } from './commands/schemes.js';
import { secretCommand } from './commands/secret.js';
import { serveCommand } from './commands/serve.js';
import { signingKeysCommand } from './commands/signing-keys.js';
import { testIdentitiesCommand } from './commands/test-identities.js';
import { upgradeCommand } from './commands/upgrade.js';
import { usersCommand } from './commands/users.js';
import { webhooksCommand } from './commands/webhooks.js';
import { describeFailure } from './support/failure.js';
import type { Io } from './support/io.js';

/** Exit codes: the command failed; the arguments are not valid. */
const exitFailed = 1;
const exitUsageError = 2;

/**
 * Runs one command. Never rejects: it writes an error to standard error.
 * @param args the arguments, without the names of node and the script
 * @returns the exit code: 0; 1 when the command failed; 2 when the arguments are not valid.
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed its own errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsageError;
    io.stderr.write(`${describeFailure(error)}\n`);
    return exitFailed;
  }
}

function createProgram(io: Io, exitWith: (code: number) => void): Command {
  const program = new Command('postern')
    .description('Two-token authentication and per-user notifications, self-hosted.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText(
      'after',
      '\nConfiguration comes from environment variables and a .env file; `postern doctor` checks it.',
    )
    // Commander must not end the process: `run` returns the code. Commands created after this inherit it.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .showHelpAfterError('(see --help)');
  serveCommand(program, io);
  migrateCommand(program, io);
  databaseCommand(program, io);
  usersCommand(program, io, exitWith);
  keysCommand(program, io);
  blocksCommand(program, io);
  testIdentitiesCommand(program, io);
  operatorsCommand(program, io);
  imagesCommand(program, io, exitWith);
  messagesCommand(program, io);
  notificationsCommand(program, io, exitWith);
  webhooksCommand(program, io, exitWith);
  schemesCommand(program, io);
  auditCommand(program, io, exitWith);
  backupCommand(program, io);
  secretCommand(program, io);
  signingKeysCommand(program, io);
  doctorCommand(program, io, exitWith);
  upgradeCommand(program, io, exitWith);
  completionCommand(program, io);
  helpCommand(program);
  return program;
}
