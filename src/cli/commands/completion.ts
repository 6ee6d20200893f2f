import { Argument, type Command } from 'commander';
import { completionScript, shells } from '../support/completion.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern completion`. */
export function completionCommand(program: Command, io: Io): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(postern completion bash)\n  source <(postern completion zsh)\n  postern completion fish | source',
    )
    .action((shell: string) => printLine(io.stdout, completionScript(shell, program)));
}
