import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const source = fileURLToPath(new URL('..', import.meta.url));
const root = join(source, '../..');
const npm = (...args: string[]) => [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** An empty project with the package as npm publishes it. */
let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'postern-packed-'));
  const { stdout } = await run('npm', npm('pack', '--json', '--pack-destination', project), { cwd: source });
  // The build prints before the list.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as { filename: string }[];
  await writeFile(join(project, 'package.json'), '{"name":"app","private":true}');
  await run('npm', npm('install', `./${packed?.filename}`), { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

const useIt = `createPostern({ url: 'https://auth.example.com', storage: memoryStorage() })`;
async function node(file: string, code: string): Promise<string> {
  await writeFile(join(project, file), code);
  return (await run(process.execPath, ['--no-warnings', file], { cwd: project })).stdout.trim();
}

describe('the packed package works in an empty project', () => {
  test('as an ES module', async () => {
    const code = `import { createPostern, memoryStorage } from '@postern/client';\nconsole.log(${useIt}.current.status);`;
    expect(await node('app.mjs', code)).toBe('starting');
  });

  test('in CommonJS through require', async () => {
    const code = `const { createPostern, memoryStorage } = require('@postern/client');\nconsole.log(${useIt}.current.status);`;
    expect(await node('app.cjs', code)).toBe('starting');
  });

  test.each([
    ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'], types: ['node'] }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'dom.iterable'], types: [] }],
  ])(
    'in TypeScript with the module resolution %s, which also checks the types of the package',
    async (name, options) => {
      const folder = join(project, name);
      await mkdir(folder);
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      await writeFile(
        join(folder, 'app.ts'),
        `import { createAccount, createInbox, createPostern, memoryStorage, passwordProof } from '@postern/client';
const postern = ${useIt};
declare module '@postern/client' {
  interface Register {
    notificationType: 'order';
  }
}
createInbox(postern).list({ filter: { notification_type: 'order' } });
// @ts-expect-error this installation has no pools
createInbox(postern).list({ filter: { notification_type: 'pool' } });
await createAccount(postern).setPin('2468', { proof: passwordProof('x') });
// @ts-expect-error a proof cannot be written by hand
await createAccount(postern).setPin('2468', { proof: { type: 'password' } });
`,
      );
      const compilerOptions = {
        ...{ strict: true, noEmit: true, target: 'es2022', exactOptionalPropertyTypes: true, ...options },
        typeRoots: [join(root, 'node_modules/@types')],
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
      expect(stdout).toBe('');
    },
  );

  test('in a page that Vite builds', async () => {
    const entry = join(project, 'page.js');
    await writeFile(
      entry,
      `import { createPostern, memoryStorage } from '@postern/client';\nexport const postern = ${useIt};`,
    );
    const result = await build({
      ...{ configFile: false, logLevel: 'silent', root: project },
      build: { write: false, rollupOptions: { input: entry, preserveEntrySignatures: 'strict' } },
    });
    const [output] = [result].flat();
    if (output === undefined || !('output' in output)) throw new Error('Vite built nothing.');
    // The page, and the parts that it loads later.
    await mkdir(join(project, 'built/assets'), { recursive: true });
    await writeFile(join(project, 'built/package.json'), '{"type":"module"}');
    for (const chunk of output.output)
      if ('code' in chunk) await writeFile(join(project, 'built', chunk.fileName), chunk.code);
    const page = `./built/${output.output[0].fileName}`;
    expect(await node('run.mjs', `import { postern } from '${page}';\nconsole.log(postern.current.status);`)).toBe(
      'starting',
    );
  });
});

test('the packed package holds compiled code and types only, and no dependencies', async () => {
  const manifest = JSON.parse(await readFile(join(project, 'node_modules/@postern/client/package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
  const { stdout } = await run('npm', npm('pack', '--dry-run', '--ignore-scripts', '--json'), { cwd: source });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const others = files.filter(({ path }) => !/^dist\/.+\.(js|d\.ts)$/.test(path)).map(({ path }) => path);
  expect(others).toEqual(['README.md', 'package.json']);
});
