import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../command.js';

const scriptFor = async (shell: string) => (await runCommand(['completion', shell])).stdout;

/** The completions of bash for a line with an incomplete last word. */
async function offered(...words: string[]): Promise<string[]> {
  const script = `${await scriptFor('bash')}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _postern; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-uo', 'pipefail', '-c', script, 'bash', ...words]);
  return stdout.split('\n').filter(Boolean);
}

/** The commands that a help page lists. */
async function commandsOf(...path: string[]): Promise<string[]> {
  const { stdout } = await runCommand([...path, '--help']);
  const [, list = ''] = stdout.split('Commands:\n');
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
}

describe('completion bash', () => {
  it('offers exactly the commands of the help', async () => {
    const top = await commandsOf();
    expect(top.length).toBeGreaterThan(5);
    const words = await offered('postern', '');
    expect(words.filter((word) => !word.startsWith('-'))).toEqual(top);
    for (const group of ['users', 'keys']) {
      const below = await commandsOf(group);
      expect(below.length).toBeGreaterThan(2);
      expect((await offered('postern', group, '')).filter((word) => !word.startsWith('-'))).toEqual(below);
    }
  });

  it.each([
    [['us'], ['users']],
    [['users', 'cr'], ['create']],
    [
      ['users', 'create', '--pass'],
      ['--password-stdin', '--password'],
    ],
    [['users', 'create', '--name', 'Ada', '--user'], ['--username']],
    [
      ['users', 'create', '--role', ''],
      ['user', 'support', 'operator'],
    ],
    [['users', 'create', '--role', 'op'], ['operator']],
    [['keys', 'create', '--s'], ['--scopes']],
    [
      ['keys', 'list', '--'],
      ['--json', '--help'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', '--help'],
    ],
    [['users', 'import', 'some-file'], []],
    [['no', 'such', 'comp'], ['completion']],
  ])('completes %j', async (words, expected) => {
    expect(await offered('postern', ...words)).toEqual(expected);
  });

  it('works for a real command line of bash', async () => {
    const script = `${await scriptFor('bash')}\ncomplete -p postern`;
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script]);
    expect(stdout.trim()).toBe('complete -o default -F _postern postern');
  });
});

it.each(['zsh', 'fish'])('completion %s names every command and option', async (shell) => {
  const script = await scriptFor(shell);
  for (const name of await commandsOf()) expect(script).toMatch(new RegExp(`\\b${name}\\b`));
  for (const path of ['users create', 'keys revoke']) expect(script).toContain(`"${path}`);
  for (const option of ['password-stdin', 'expires-at']) expect(script).toContain(option);
});

it('an unknown shell is refused', async () => {
  const { code, stderr } = await runCommand(['completion', 'tcsh']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed choices are bash, zsh, fish')]);
});
