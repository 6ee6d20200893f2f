import type { Command } from 'commander';

/** `help keys create`, for commands of any depth. Commander's own help command knows the first level only. */
export function helpCommand(program: Command): void {
  program
    .command('help')
    .description('print the help of a command')
    .argument('[command...]', 'such as `keys create`')
    .action((names: string[]) => {
      let command = program;
      for (const name of names) {
        const next = command.commands.find((each) => each.name() === name);
        if (next === undefined) command.error(`error: unknown command '${name}'`);
        else command = next;
      }
      command.outputHelp();
    });
}
