import { describe, expect, it } from 'vitest';
import { version } from '../../src/lib/own-package.js';
import { runCommand } from './command.js';

describe('postern', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('prints its help for %j', async (args) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toContain('Usage: postern [options] [command]');
    for (const command of ['serve', 'migrate', 'users', 'keys', 'doctor', 'completion', 'help'])
      expect(stdout).toMatch(new RegExp(`^  ${command}`, 'm'));
  });

  it.each([
    [['users', 'create', '--help'], '--password-stdin'],
    [['keys', 'create', '--help'], 'notifications:write'],
    [['help', 'doctor'], 'check the configuration'],
    [['help', 'keys'], 'Usage: postern keys'],
    [['help', 'keys', 'create'], 'Usage: postern keys create'],
    [['keys', 'help', 'create'], 'Usage: postern keys create'],
    [['help', 'users', 'import'], 'Usage: postern users import'],
  ])('prints the help of a command for %j', async (args, words) => {
    const { code, stdout } = await runCommand(args);
    expect(code).toBe(0);
    expect(stdout).toContain(words);
  });

  it('prints its version', async () => {
    expect(await runCommand(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [['swerve'], "unknown command 'swerve'"],
    [['serve', '--fast'], "unknown option '--fast'"],
    [['serve', 'now'], 'too many arguments'],
    [['users'], 'Usage: postern users'],
    [['help', 'swerve'], "unknown command 'swerve'"],
    [['help', 'keys', 'destroy'], "unknown command 'destroy'"],
    [['users', 'destroy'], "unknown command 'destroy'"],
    [['users', 'create', '--pin', '2468'], "unknown option '--pin'"],
    [['users', 'create', '--role', 'king'], 'Allowed choices are user, support, operator'],
    [['users', 'create', '--password', 'x', '--password-stdin'], 'cannot be used with option'],
    [['keys', 'create', '--name', 'x'], "required option '--scopes <list>' not specified"],
    [['keys', 'create', '--name', '', '--scopes', 'admin'], 'A name has 1 to 100 characters'],
    [['keys', 'create', '--name', 'x', '--scopes', 'admin,root'], 'Allowed are: users:read'],
    [['keys', 'revoke'], "missing required argument 'id'"],
  ])('exits with 2 for %j and says why on standard error', async (args, words) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
  });

  it.each(['serve', 'migrate'])('%s reports all errors of the configuration, without a stack', async (command) => {
    const env = { PORT: 'eighty', SESSION_TTL: 'soon', DATABASE_URL: 'mysql://x', POSTERN_PORT: '1' };
    const { code, stderr } = await runCommand([command], env);
    expect(code).toBe(1);
    for (const name of Object.keys(env)) expect(stderr).toContain(`${name} `);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
