import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** The words that may follow a command. */
interface CompletionContext {
  /** The names of the commands, such as `keys create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
  /** Choices of arguments. */
  readonly words: readonly string[];
  /** Choices of options, by the option. */
  readonly choices: readonly (readonly [option: string, words: readonly string[]])[];
}

/** A completion script for one of `shells`, generated from the commands. */
export function completionScript(shell: string, program: Command): string {
  const contexts = contextsOf(program, []);
  if (shell === 'fish') return fishScript(program.name(), contexts);
  return shell === 'zsh' ? zshScript(program.name(), contexts) : bashScript(program.name(), contexts);
}

function contextsOf(command: Command, path: readonly string[]): CompletionContext[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  // Commander adds a help command to each command with subcommands.
  const commands = help.visibleCommands(command);
  const context: CompletionContext = {
    path: path.join(' '),
    commands: commands.map((each) => each.name()),
    options: options.flatMap(({ long }) => long ?? []),
    words: help.visibleArguments(command).flatMap(({ argChoices }) => argChoices ?? []),
    choices: options.flatMap(({ long, argChoices }) => (long && argChoices ? [[long, argChoices] as const] : [])),
  };
  return [context, ...commands.flatMap((each) => contextsOf(each, [...path, each.name()]))];
}

const wordsOf = ({ commands, words, options }: CompletionContext) => [...commands, ...words, ...options].join(' ');
/** A `case` of bash and zsh that finds the path of the words before the cursor. */
const pathLoop = (contexts: readonly CompletionContext[], words: string) => `  for word in ${words}; do
    case "\${at:+$at }$word" in
      ${contexts.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`])).join('|')}) at="\${at:+$at }$word" ;;
    esac
  done`;

/** The words after each path. After an option with choices, only the choices. */
function caseBranches(contexts: readonly CompletionContext[], assign: (words: string) => string): string {
  const lines = contexts.flatMap((context) => [
    ...context.choices.map(([option, words]) => `    "${context.path}:${option}") ${assign(words.join(' '))} ;;`),
    `    "${context.path}:"*) ${assign(wordsOf(context))} ;;`,
  ]);
  return lines.join('\n');
}

const bashScript = (name: string, contexts: readonly CompletionContext[]) => `_${name}() {
  local at="" word words=""
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
${pathLoop(contexts, `"\${COMP_WORDS[@]:1:COMP_CWORD - 1}"`)}
  case "$at:$previous" in
${caseBranches(contexts, (words) => `words="${words}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}`;

const zshScript = (name: string, contexts: readonly CompletionContext[]) => `#compdef ${name}
_${name}() {
  local at="" word previous="\${words[CURRENT-1]}"
  local -a found
${pathLoop(contexts, `"\${(@)words[2,CURRENT-1]}"`)}
  case "$at:$previous" in
${caseBranches(contexts, (words) => `found=(${words})`)}
  esac
  compadd -- $found || _files
}
compdef _${name} ${name}`;

function fishScript(name: string, contexts: readonly CompletionContext[]): string {
  const lines = contexts.flatMap((context) => {
    const prefix = `complete -c ${name} -n '__${name}_at "${context.path}"'`;
    const words = [...context.commands, ...context.words];
    return [
      ...(words.length > 0 ? [`${prefix} -f -a '${words.join(' ')}'`] : []),
      ...context.options.map((option) => {
        const choices = context.choices.find(([name]) => name === option)?.[1];
        return `${prefix} -l ${option.slice(2)}${choices === undefined ? '' : ` -x -a '${choices.join(' ')}'`}`;
      }),
    ];
  });
  const paths = contexts.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join(' ');
  return `function __${name}_at
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l longer (string join ' ' -- $path $word)
    contains -- "$longer" ${paths}; and set path (string split ' ' -- $longer)
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}`;
}
