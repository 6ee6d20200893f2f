import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(packages, '../node_modules');
const npm = (...args: string[]) => [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** An empty project with the packages as npm publishes them, and the React of this one. */
let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'postern-react-packed-'));
  const pack = async (name: string) => {
    const args = npm('pack', '--json', '--pack-destination', project);
    const { stdout } = await run('npm', args, { cwd: join(packages, name) });
    // The build prints before the list.
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as { filename: string }[];
    return `./${packed?.filename}`;
  };
  const [client, react] = [await pack('client'), await pack('react')];
  await writeFile(join(project, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  const peers = ['react', 'react-dom', '@types/react'].map((name) => join(modules, name));
  await run('npm', npm('install', client, react, ...peers), { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

const page = `import { createPostern, memoryStorage } from '@postern/client';
import { PosternProvider, useSession } from '@postern/react';

const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
const Who = () => <p>{useSession().status}</p>;
export const App = () => <PosternProvider postern={postern}><Who /></PosternProvider>;
`;

test('the packed package works in a page that Vite builds, without a warning', async () => {
  await writeFile(join(project, 'app.jsx'), page);
  await writeFile(
    join(project, 'main.jsx'),
    `import { createRoot } from 'react-dom/client';\nimport { App } from './app.jsx';\ncreateRoot(document.body).render(<App />);`,
  );
  const warnings: string[] = [];
  const options = { configFile: false, logLevel: 'silent', root: project } as const;
  const onwarn = ({ message }: { readonly message: string }) => void warnings.push(message);
  await build({ ...options, build: { outDir: 'page', rollupOptions: { input: join(project, 'main.jsx'), onwarn } } });
  expect(warnings).toEqual([]);

  // The same components on a server.
  await writeFile(
    join(project, 'server.jsx'),
    `import { renderToString } from 'react-dom/server';\nimport { App } from './app.jsx';\nconsole.log(renderToString(<App />));`,
  );
  await build({ ...options, build: { outDir: 'server', ssr: join(project, 'server.jsx') } });
  const { stdout } = await run(process.execPath, ['server/server.js'], { cwd: project });
  expect(stdout.trim()).toBe('<p>starting</p>');
});

test.each(['nodenext', 'bundler'])('its types work with the module resolution %s', async (moduleResolution) => {
  await writeFile(join(project, 'app.tsx'), page);
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], jsx: 'react-jsx', types: [] },
    ...{ module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext', moduleResolution },
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['app.tsx'] }));
  const compiler = join(modules, 'typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', project]).catch((error) => error);
  expect(stdout).toBe('');
});

test('it holds compiled code and types only', async () => {
  const { stdout } = await run('npm', npm('pack', '--dry-run', '--ignore-scripts', '--json'), {
    cwd: join(packages, 'react'),
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const others = files.filter(({ path }) => !/^dist\/.+\.(js|d\.ts)$/.test(path)).map(({ path }) => path);
  expect(others).toEqual(['README.md', 'package.json']);
});
