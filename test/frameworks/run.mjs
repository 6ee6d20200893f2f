// Tries the recipes of docs/frameworks.md with the packed packages in real apps, against one Postern:
//   node test/frameworks/run.mjs [name…]
// It installs the frameworks into a temporary folder, which needs the registry of npm and some hundred MB each. Each app has a limit
// of time. Prints the lines of glue of each recipe.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { apps } from './apps.mjs';
import { glueOf, recipeOf } from './recipes.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** In milliseconds, for the installation, the build and the check of one app. */
const limitMs = 300_000;
const maxGlue = 10;
const execute = promisify(execFile);
const work = mkdtempSync(join(tmpdir(), 'postern-frameworks-'));
const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/** @param {string[]} command @param {string} cwd @param {Record<string, string>} [env] @param {AbortSignal} [signal] */
async function run([file = '', ...args], cwd, env, signal) {
  try {
    const { stdout } = await execute(file, args, {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: 1e8,
      ...(signal && { signal }),
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = /** @type {Error & { stdout?: string, stderr?: string }} */ (error);
    throw new Error(`${message}\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`);
  }
}

async function pack() {
  await run(['node', 'scripts/build.mjs'], root);
  for (const name of ['elements', 'react', 'server', 'client']) {
    // The first ones also build the client.
    await run(['npm', 'pack', `./packages/${name}`, '--pack-destination', work, '--silent'], root);
  }
  const files = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  return (/** @type {string} */ name) => join(work, files.find((file) => file.startsWith(`postern-${name}-`)) ?? '');
}

/** @returns {Promise<number>} a port that is free now */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });

/**
 * @param {import('./apps.mjs').App} app @param {string} folder @param {number} port @param {string} url of Postern
 * @param {AbortSignal} signal
 */
async function serve(app, folder, port, url, signal) {
  const [file = '', ...args] = app.start ?? [];
  const env = {
    ...process.env,
    ...app.env,
    AUTH_SERVICE_URL: url,
    PORT: `${port}`,
    HOST: '127.0.0.1',
    HOSTNAME: '127.0.0.1',
    ORIGIN: `http://127.0.0.1:${port}`,
    NODE_ENV: 'production',
  };
  // A group of its own, because some commands start others.
  const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const stop = () => {
    if (child.pid === undefined || child.exitCode !== null) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {}
  };
  for (;;) {
    if (signal.aborted || child.exitCode !== null) {
      stop();
      throw new Error(`The app did not start:\n${output.slice(-4000)}`);
    }
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer !== undefined) {
      await answer.text();
      return { stop, output: () => output };
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(apps);
let passed = 0;
const failures = [];
try {
  const archiveOf = await pack();
  const base = join(work, 'base');
  mkdirSync(base);
  writeFileSync(join(base, 'package.json'), '{"private":true,"type":"module"}');
  await run(['npm', ...install, archiveOf('client'), archiveOf('server')], base);
  const load = (/** @type {string} */ path) => import(pathToFileURL(join(base, 'node_modules/@postern', path)).href);
  const [client, { startPostern }] = await Promise.all([
    load('client/dist/index.js'),
    load('server/dist/testing/index.js'),
  ]);
  /** @type {Map<string, number>} */
  const ports = new Map(await Promise.all(names.map(async (name) => /** @type {const} */ ([name, await freePort()]))));
  // Apps without a backend of their own, such as Expo, send their requests to Postern itself.
  const CORS_ORIGINS = [...ports.values()].map((port) => `http://127.0.0.1:${port}`).join();
  const env = { TRUST_PROXY: '127.0.0.1', PIN_POLICY: 'off', CORS_ORIGINS };
  const postern = await startPostern({ installation: root, env });
  try {
    for (const name of names) {
      const app = apps[name];
      if (app === undefined) throw new Error(`There is no app "${name}". There are: ${Object.keys(apps).join(', ')}`);
      const since = Date.now();
      const signal = AbortSignal.timeout(limitMs);
      const folder = join(work, name);
      const recipe = recipeOf(app.recipe);
      const glue = glueOf(recipe);
      let server;
      try {
        const port = ports.get(name) ?? 0;
        const write = (/** @type {string} */ path, /** @type {string} */ text) => {
          mkdirSync(dirname(join(folder, path)), { recursive: true });
          writeFileSync(join(folder, path), text);
        };
        write('package.json', JSON.stringify({ name, private: true, type: 'module', version: '1.0.0' }));
        for (const [path, text] of Object.entries(app.files ?? {})) write(path, text);
        for (const { path, code } of recipe) {
          const [from, to] = app.replace ?? ['', ''];
          write(
            path,
            (from === '' ? code : code.replace(from, to)).replaceAll('https://auth.example.com', postern.url),
          );
        }
        const own = (app.own ?? ['client', 'server']).map(archiveOf);
        if (app.packages.length > 0)
          await run(['npm', ...install, '--save-exact', ...own, ...app.packages], folder, {}, signal);
        const env = { ...app.env, CI: 'true', NO_COLOR: '1' };
        for (const command of app.build ?? []) await run(command, folder, env, signal);
        server = app.start && (await serve(app, folder, port, postern.url, signal));
        const tools = {
          ...{ postern, client, folder, origin: `http://127.0.0.1:${port}`, output: server?.output ?? (() => '') },
          run: (/** @type {string[]} */ command, extra = {}) => run(command, folder, { ...env, ...extra }, signal),
        };
        const late = new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error(`It took longer than ${limitMs / 1000} s.`)));
        });
        await Promise.race([app.check(tools), late]);
        if (glue.length > maxGlue) throw new Error(`The recipe has ${glue.length} lines of glue:\n${glue.join('\n')}`);
        passed += 1;
        console.log(`ok      ${name}: ${glue.length} lines of glue, ${Math.round((Date.now() - since) / 1000)} s`);
      } catch (error) {
        failures.push(name);
        console.log(
          `FAILED  ${name}: ${error instanceof Error ? error.stack : error}\n${server?.output().slice(-3000) ?? ''}`,
        );
      } finally {
        server?.stop();
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    }
  } finally {
    await postern.stop();
  }
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
