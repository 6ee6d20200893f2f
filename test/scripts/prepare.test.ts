import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FakeProject } from './fake-project.js';

let started: FakeProject;
beforeAll(async () => {
  started = new FakeProject();
  await started.start();
});
afterAll(() => started.delete());

let project: FakeProject;
afterEach(() => project.delete());

/** A project as a clone leaves it. */
const fresh = () => {
  project = new FakeProject();
};
/** A project that was started once. */
const prepared = () => {
  project = new FakeProject(started);
};

describe('the first start', () => {
  beforeEach(fresh);

  test('installs, builds and serves with the given arguments', async () => {
    const { code, stdout } = await project.start(['--port', '0']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'first serve --port 0\n' });
    expect(project.installs).toEqual([expect.arrayContaining(['ci', '--omit=dev', '--ignore-scripts'])]);
    expect(project.builds).toBe(1);
  });
});

describe('a later start', () => {
  beforeEach(prepared);

  test('without changes installs nothing, builds nothing and prints nothing', async () => {
    const { stderr } = await project.start();
    expect({ installs: project.installs.length, builds: project.builds, stderr }).toEqual({
      installs: 1,
      builds: 1,
      stderr: '',
    });
  });

  test.each([
    ['src/new/file.ts', 'new', { installs: 1, builds: 2 }],
    ['packages/elements/src/main.ts', 'new', { installs: 1, builds: 2 }],
    ['scripts/compile.mjs', `${readFileSync('scripts/compile.mjs', 'utf8')}\n`, { installs: 1, builds: 2 }],
    ['package-lock.json', '{"packages":{"":{},"node_modules/a":{"version":"1"}}}', { installs: 2, builds: 2 }],
    ['README.md', 'hello', { installs: 1, builds: 1 }],
  ])('after a change of %s installs and builds only what depends on this file', async (path, content, calls) => {
    project.write(path, content);
    expect((await project.start()).code).toBe(0);
    expect({ installs: project.installs.length, builds: project.builds }).toEqual(calls);
  });

  test('builds again after a source file was deleted', async () => {
    project.remove('src/other.ts');
    await project.start();
    expect(project.builds).toBe(2);
  });

  test('does not install if the packages match the lock file', async () => {
    project.write('package-lock.json', '{"packages":{"":{},"node_modules/a":{"version":"1"}}}');
    project.write('node_modules/.package-lock.json', '{"packages":{"node_modules/a":{"version":"1"}}}');
    expect((await project.start()).code).toBe(0);
    expect(project.installs).toHaveLength(1);
  });

  test('installs nothing if only packages of developers are missing', async () => {
    project.write('package-lock.json', '{"packages":{"":{},"node_modules/a":{"version":"1","dev":true}}}');
    project.write('node_modules/.package-lock.json', '{"packages":{}}');
    expect((await project.start()).code).toBe(0);
    expect(project.installs).toHaveLength(1);
  });

  test('does not install the packages of developers: the build of a package installs them', async () => {
    await project.starter([], {}, 'build-package.mjs').finished;
    expect(project.installs.slice(1)).toEqual([expect.arrayContaining(['ci', '--include=dev'])]);
  });

  test('keeps the packages of developers that their build has installed', async () => {
    expect((await project.build()).code).toBe(0);
    expect(project.installs.slice(1)).toEqual([expect.arrayContaining(['ci', '--include=dev'])]);
    expect((await project.start()).code).toBe(0);
    expect((await project.build()).code).toBe(0);
    expect(project.installs).toHaveLength(2);
  });

  test.each([
    ['another version of a package', { 'node_modules/a': { version: '2' } }],
    ['a package for another platform', { 'node_modules/a': { version: '1', os: ['plan9'] } }],
    ['no packages', {}],
  ])('installs again if node_modules has %s', async (_, packages) => {
    project.write('package-lock.json', '{"packages":{"":{},"node_modules/a":{"version":"1"}}}');
    project.write('node_modules/.package-lock.json', JSON.stringify({ packages }));
    expect((await project.start()).code).toBe(0);
    expect(project.installs).toHaveLength(2);
  });
});

describe('a failure', () => {
  beforeEach(prepared);

  test('of the compiler ends the start and keeps the last build', async () => {
    project.write('src/app/main.ts', 'syntax error');
    const { code, stdout, stderr } = await project.start();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('The build failed');
    expect(project.read('dist/cli/bin.js')).toContain('first');
    expect(project.has('.prepare-lock')).toBe(false);
  });

  test('of npm ends the start and keeps the installed packages', async () => {
    project.write('node_modules/mark', 'old');
    project.write('package-lock.json', '{"packages":{"":{},"node_modules/a":{"version":"1"}}}');
    project.write('../fakes/offline', '');
    const { code, stderr } = await project.start();
    expect(code).toBe(1);
    expect(stderr).toContain('Installing the packages failed');
    expect(project.read('node_modules/mark')).toBe('old');
  });
});

describe('several starts at once', () => {
  beforeEach(fresh);

  test('install and build once', async () => {
    project.write('../fakes/hold', '');
    const starters = [project.starter(), project.starter(), project.starter()];
    await Promise.any(starters.map((starter) => starter.untilPrinted('npm runs')));
    // One of the three installs. Which ones wait is not known in advance.
    const waiting = starters.map((starter) => starter.untilPrinted('Waiting for process').then(() => 1));
    await Promise.any(waiting);
    project.remove('../fakes/hold');
    const results = await Promise.all(starters.map((starter) => starter.finished));
    await Promise.allSettled(waiting);
    expect(results.map(({ stdout }) => stdout)).toEqual(Array(3).fill('first serve\n'));
    expect({ installs: project.installs.length, builds: project.builds }).toEqual({ installs: 1, builds: 1 });
    expect(project.has('.prepare-lock')).toBe(false);
  });

  test('continue when the one that installs is killed', async () => {
    project.write('../fakes/hold', '');
    const first = project.starter();
    await first.untilPrinted('npm runs');
    const second = project.starter();
    await second.untilPrinted('Waiting for process');
    first.process.kill('SIGKILL');
    await second.untilPrinted('npm runs');
    project.remove('../fakes/hold');
    expect(await second.finished).toMatchObject({ code: 0, stdout: 'first serve\n' });
    expect(project.has('.prepare-lock')).toBe(false);
  });

  test('leave the work to a later start when the one that installs is stopped', async () => {
    project.write('../fakes/hold', '');
    const first = project.starter();
    await first.untilPrinted('npm runs');
    first.process.kill('SIGTERM');
    expect(await first.finished).toMatchObject({ code: 143, stdout: '' });
    project.remove('../fakes/hold');
    expect(await project.start()).toMatchObject({ code: 0, stdout: 'first serve\n' });
  });
});

describe("npm's cache", () => {
  beforeEach(fresh);

  test('is the default cache if it is writable', async () => {
    await project.start();
    expect(project.installs[0]).not.toContain('--cache');
  });

  // A folder that cannot be made, as on a read-only file system: permissions would not keep root out.
  test.each([
    ['HOME', { HOME: '/dev/null' }],
    ['configured cache', { npm_config_cache: '/dev/null/cache' }],
  ])('is in the project folder if the %s cannot be written', async (_, env) => {
    await project.start([], env);
    expect(project.installs[0]?.slice(-2)).toEqual(['--cache', expect.stringMatching(/project\/\.npm-cache$/)]);
  });
});
