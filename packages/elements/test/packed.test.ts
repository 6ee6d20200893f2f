import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const npm = (...args: string[]) => [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'];

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}
async function pack(name: string, folder: string): Promise<Packed> {
  const { stdout } = await run('npm', npm('pack', '--json', '--pack-destination', folder), {
    cwd: name,
  });
  // The build prints before the list.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as Packed[];
  if (packed === undefined) throw new Error(`nothing was packed: ${stdout}`);
  return packed;
}

/** An empty project with the packages as npm publishes them. */
let work: string;
let project: string;
let packed: Packed;
beforeAll(async () => {
  // A copy, because other tests build the client at the same time.
  work = await mkdtemp(join(tmpdir(), 'postern-packed-'));
  const copied = ['tsconfig.json', 'scripts', 'packages/client', 'packages/elements'];
  const isSource = (path: string) => !/\/(dist|node_modules)$/.test(path);
  for (const path of copied) await cp(join(root, path), join(work, path), { recursive: true, filter: isSource });
  await symlink(join(root, 'node_modules'), join(work, 'node_modules'));
  project = join(work, 'app');
  await mkdir(project);
  const client = await pack(join(work, 'packages/client'), project);
  packed = await pack(join(work, 'packages/elements'), project);
  await writeFile(join(project, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  await run('npm', npm('install', `./${client.filename}`, `./${packed.filename}`), { cwd: project });
});
afterAll(() => rm(work, { recursive: true, force: true }));

const app = `import { createPostern, memoryStorage } from '@postern/client';
import { defineElements } from '@postern/elements';
import { defineAccount } from '@postern/elements/account';
import { defineInbox, PosternInbox } from '@postern/elements/inbox';
import { defineSignIn } from '@postern/elements/sign-in';
const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
defineInbox({ postern });
defineSignIn({ postern, oidc: async () => null });
defineAccount({ postern });
defineElements({ postern }, PosternInbox);
`;

describe('the packed package works in an empty project', () => {
  test('in Node.js, where it does nothing', async () => {
    await writeFile(join(project, 'app.js'), `${app}console.log(typeof PosternInbox, typeof customElements);`);
    expect((await run(process.execPath, ['app.js'], { cwd: project })).stdout.trim()).toBe('function undefined');
  });

  test.each([
    ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext' }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])(
    'in TypeScript with the module resolution %s, which also checks the types of the package',
    async (_name, options) => {
      await writeFile(
        join(project, 'app.ts'),
        `${app}
const inbox = document.querySelector('postern-inbox');
inbox?.on('postern-select', ({ detail }) => detail.description.length);
// @ts-expect-error no such event
inbox?.on('postern-chosen', () => undefined);
// @ts-expect-error the page must decide on a client
defineElements({});
if (inbox) inbox.markRead = 'select';
`,
      );
      const lib = ['es2022', 'dom', 'dom.iterable'];
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2022',
        exactOptionalPropertyTypes: true,
        lib,
        types: [],
        ...options,
      };
      await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }));
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const { stdout } = await run(process.execPath, [compiler, '-p', project]).catch((error) => error);
      expect(stdout).toBe('');
    },
  );

  test('in a page that Vite builds', async () => {
    const entry = join(project, 'app.js');
    await writeFile(entry, app);
    const result = await build({
      ...{ configFile: false, logLevel: 'silent', root: project },
      build: { write: false, rollupOptions: { input: entry } },
    });
    const [output] = [result].flat();
    const names = output !== undefined && 'output' in output ? output.output.map(({ fileName }) => fileName) : [];
    expect(names.some((name) => /\/es-/.test(name))).toBe(true);
  });
});

test('the packed package holds compiled code and types only, and depends on the client alone', async () => {
  const manifest = JSON.parse(await readFile(join(project, 'node_modules/@postern/elements/package.json'), 'utf8'));
  expect(manifest.dependencies).toEqual({ '@postern/client': manifest.version });
  const others = packed.files.filter(({ path }) => !/^dist\/.+\.(js|d\.ts)$/.test(path)).map(({ path }) => path);
  expect(others).toEqual(['README.md', 'package.json']);
});
