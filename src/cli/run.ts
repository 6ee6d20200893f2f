import { Command, CommanderError } from 'commander';
import { version } from '../version.js';
import { completionCommand } from './commands/completion.js';
import { doctorCommand } from './commands/doctor.js';
import { helpCommand } from './commands/help.js';
import { keysCommand } from './commands/keys.js';
import { migrateCommand } from './commands/migrate.js';
import { operatorsCommand } from './commands/operators.js';
import { schemesCommand } from './commands/schemes.js';
import { serveCommand } from './commands/serve.js';
import { usersCommand } from './commands/users.js';
import { describeFailure } from './failure.js';
import type { Io } from './io.js';

/** Exit codes: it failed, and it was called in a way that cannot be understood. */
const FAILED = 1;
const MISUSED = 2;

/**
 * Runs one command. Never rejects: what went wrong is one message on standard error.
 * @param args without the names of node and the script
 * @returns the exit code: 0, 1 when it failed, 2 when the arguments cannot be understood.
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
    // Commander has printed its own.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
    io.stderr.write(`${describeFailure(error)}\n`);
    return FAILED;
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
    // Instead of ending the process: `run` returns the code. Commands made from here on inherit it.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .showHelpAfterError('(--help says more)');
  serveCommand(program, io);
  migrateCommand(program, io);
  usersCommand(program, io, exitWith);
  keysCommand(program, io);
  operatorsCommand(program, io);
  schemesCommand(program, io);
  doctorCommand(program, io, exitWith);
  completionCommand(program, io);
  helpCommand(program);
  return program;
}
