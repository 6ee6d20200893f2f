import { Argument, type Command } from 'commander';
import { completionScript, shells } from '../completion.js';
import { type Io, printLine } from '../io.js';

export function completionCommand(program: Command, io: Io): void {
  program
    .command('completion')
    .description('print a script by which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(postern completion bash)\n  source <(postern completion zsh)\n  postern completion fish | source',
    )
    .action((shell: string) => printLine(io.stdout, completionScript(shell, program)));
}
