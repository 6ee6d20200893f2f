// Proves that the OpenAPI document works with real tools: it lints it, generates clients in three languages, and uses
// them against a running service. Fails when any part fails. Needs npm, python3 and go; root installs the last two.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findGo, findPython } from './toolchains.mjs';

const project = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const here = (path) => project(`test/clients/${path}`);
const openapi = project('docs/openapi.json');

const startDeadline = 60_000;
const stepDeadline = 240_000;

const work = await mkdtemp(join(tmpdir(), 'postern-clients-'));
try {
  await run(process.execPath, [project('scripts/build.mjs')]);
  const service = await startService();
  try {
    const parts = { 'lint and TypeScript': typescript, Python: python, Go: go };
    const all = Object.entries(parts).map(([name, part]) => report(name, () => part(service.env)));
    if ((await Promise.all(all)).includes(false)) process.exitCode = 1;
  } finally {
    await service.stop();
  }
} finally {
  // Go's modules are read-only, and no user but root removes such folders.
  await run('chmod', ['-R', 'u+w', work]);
  await rm(work, { recursive: true });
}

/** Prints what a part says at its end, or why it failed. */
async function report(name, part) {
  const since = performance.now();
  const seconds = () => `${((performance.now() - since) / 1000).toFixed(0)} s`;
  try {
    console.log(`${name}: ${await part()} (${seconds()})`);
    return true;
  } catch (error) {
    console.error(`${name}: FAILED (${seconds()})\n${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`);
    return false;
  }
}

async function typescript() {
  const folder = await copyOf('typescript');
  await cp(openapi, join(folder, 'openapi.json'));
  const options = {
    cwd: folder,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  };
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
  const tool = (name, ...args) => run(process.execPath, [join('node_modules', name), ...args], options);
  const lint = ['lint', 'openapi.json', '--config', here('redocly.yaml'), '--format', 'json'];
  const { stdout } = await tool('@redocly/cli/bin/cli.js', ...lint);
  // This tool exits with 0 also if it has found warnings.
  const { totals, problems } = JSON.parse(stdout);
  if (totals.errors + totals.warnings > 0) throw new Error(JSON.stringify(problems, null, 2));
  const plugin = ['-p', '@hey-api/typescript', '--no-log-file'];
  await tool('@hey-api/openapi-ts/bin/run.js', '-i', './openapi.json', '-o', 'generated', ...plugin);
  await tool('typescript/bin/tsc', '-p', '.');
  return 'no warnings, and a program compiles with the generated types';
}

async function python(env) {
  const folder = await copyOf('python');
  await run(await findPython(), ['-m', 'venv', join(folder, 'venv')]);
  const bin = (name) => join(folder, 'venv/bin', name);
  await run(bin('pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'], {
    cwd: folder,
  });
  const target = ['--output-path', 'postern_client', '--meta', 'none'];
  const { stdout } = await run(
    bin('openapi-python-client'),
    ['generate', '--path', openapi, '--config', 'config.yaml', ...target],
    { cwd: folder, env: { ...process.env, PATH: `${bin('.')}:${process.env.PATH}` } },
  );
  refuseWarnings(stdout);
  return (await run(bin('python'), ['program.py'], { cwd: folder, env: { ...process.env, ...env } })).stdout.trim();
}

/**
 * openapi-python-client cannot send NDJSON, and leaves out the two operations that need it. Any other warning is about
 * the document.
 */
function refuseWarnings(output) {
  const warnings = output.match(/WARNING parsing [A-Z]+ \S+/g) ?? [];
  const ndjson = ['POST /admin/v1/users/import', 'POST /admin/v1/notifications/ndjson'];
  const others = warnings.filter((warning) => !ndjson.includes(warning.replace('WARNING parsing ', '')));
  if (others.length > 0 || /\bERROR\b/i.test(output)) throw new Error(output);
}

async function go(env) {
  const folder = await copyOf('go');
  await mkdir(join(folder, 'postern'));
  const tool = await findGo(join(work, 'toolchain'));
  const options = {
    cwd: folder,
    env: { ...process.env, ...tool.env, GOFLAGS: '-mod=readonly', GOTELEMETRY: 'off', ...env },
  };
  const { stdout, stderr } = await run(tool.path, ['tool', 'oapi-codegen', '-config', 'config.yaml', openapi], options);
  if (/warning/i.test(stdout + stderr)) throw new Error(stdout + stderr);
  return (await run(tool.path, ['run', '.'], options)).stdout.trim();
}

async function copyOf(name) {
  const copy = join(work, name);
  const isOurs = (path) => !path.includes('node_modules');
  await cp(here(name), copy, { recursive: true, filter: isOurs });
  return copy;
}

/** `postern serve` with a database of its own. */
async function startService() {
  const cwd = join(work, 'service');
  await mkdir(cwd);
  const adminKey = `admin-${randomBytes(24).toString('hex')}`;
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [project('dist/cli/bin.js'), 'serve'], {
    cwd,
    env: { PATH, HOME, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', ADMIN_API_KEY: adminKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill();
    await ended;
  };
  process.once('exit', () => child.kill());
  let output = '';
  child.stdout.setEncoding('utf8');
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const [, announced] = /^Postern is ready at (\S+)\s/m.exec(output) ?? [];
      if (announced !== undefined) resolve(announced);
    });
    child.once('close', () => reject(new Error(`The service ended: ${output}`)));
    setTimeout(() => reject(new Error(`The service is not ready: ${output}`)), startDeadline).unref();
  });
  return { env: { POSTERN_URL: url, ADMIN_API_KEY: adminKey }, stop };
}

/** @throws Error with `stdout` and `stderr` unless the program exits with 0 */
function run(program, args, options = {}) {
  return promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024, timeout: stepDeadline, ...options });
}
