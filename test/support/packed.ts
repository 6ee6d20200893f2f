import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');
const npm = (...args: string[]) => [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'];

export type PackageName = 'client' | 'elements' | 'react' | 'server';

/** How a project finds the types of packages. */
type Resolution = 'nodenext' | 'bundler';

/** What a project compiles for. */
const platforms = {
  page: { lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
  backend: { lib: ['es2022', 'esnext.disposable'], types: ['node'] },
};
type Platform = keyof typeof platforms;

/** An empty project with packages as npm publishes them. */
export interface PackedProject {
  readonly folder: string;
  /** The paths of what each package contains. */
  readonly contents: Readonly<Partial<Record<PackageName, readonly string[]>>>;
  write(file: string, code: string): Promise<void>;
  /** Runs a file of the project with Node.js. @returns what it prints */
  run(file: string, ...options: readonly string[]): Promise<string>;
  /** Compiles files, and checks the types of the packages too. @returns the errors of the compiler, empty if there are none */
  compileErrors(files: readonly string[], platform: Platform, resolution: Resolution): Promise<string>;
  /** Bundles a file with all that it imports. @returns the paths of the bundle and of the parts that it loads later */
  bundle(tool: 'Vite' | 'esbuild', file: string, platform: Platform): Promise<Bundle>;
  remove(): Promise<void>;
}
export interface Bundle {
  readonly entry: string;
  readonly files: readonly string[];
  readonly warnings: readonly string[];
}

/** @param names the packages @param peers names of packages of this repository to install too */
export async function packProject(
  names: readonly PackageName[],
  peers: readonly string[] = [],
): Promise<PackedProject> {
  // A copy of the sources, because other tests build the same packages at the same time.
  const work = await mkdtemp(join(tmpdir(), 'postern-packed-'));
  const isSource = (path: string) => !/\/(dist|node_modules)$/.test(path);
  for (const path of ['tsconfig.json', 'scripts', ...names.map((name) => `packages/${name}`)]) {
    await cp(join(root, path), join(work, path), { recursive: true, filter: isSource });
  }
  await symlink(modules, join(work, 'node_modules'));
  const folder = join(work, 'app');
  await mkdir(folder);
  const contents: Partial<Record<PackageName, string[]>> = {};
  const archives: string[] = [];
  // All at once: the build of each package would also build those that it depends on.
  const folders = names.map((name) => join(work, 'packages', name));
  await execute(process.execPath, [join(work, 'scripts/build-package.mjs'), ...folders]);
  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders];
  const { stdout } = await execute('npm', npm(...packing), { cwd: work });
  for (const packed of JSON.parse(stdout) as { name: string; filename: string; files: { path: string }[] }[]) {
    contents[packed.name.replace('@postern/', '') as PackageName] = packed.files.map(({ path }) => path);
    archives.push(`./${packed.filename}`);
  }
  await writeFile(join(folder, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  const installed = peers.map((name) => join(modules, name));
  await execute('npm', npm('install', ...archives, ...installed), { cwd: folder });

  return {
    ...{ folder, contents },
    write: (file, code) => writeFile(join(folder, file), code),
    async run(file, ...options) {
      return (await execute(process.execPath, ['--no-warnings', ...options, file], { cwd: folder })).stdout.trim();
    },
    async compileErrors(files, platform, moduleResolution) {
      const compilerOptions = {
        ...{ strict: true, noEmit: true, target: 'es2022', exactOptionalPropertyTypes: true, jsx: 'react-jsx' },
        ...{ ...platforms[platform], typeRoots: [join(modules, '@types')] },
        ...{ module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext', moduleResolution },
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      const compiler = join(modules, 'typescript/bin/tsc');
      const { stdout } = await execute(process.execPath, [compiler, '-p', folder]).catch((error) => error);
      return stdout;
    },
    async bundle(tool, file, platform) {
      const name = `${tool}-${platform}-${file}`;
      const outDir = join(folder, name);
      const isBackend = platform === 'backend';
      const warnings: string[] = [];
      const warn = ({ message, text = message }: { readonly message?: string; readonly text?: string }) =>
        void warnings.push(text ?? '');
      if (tool === 'Vite') {
        await vite({
          ...{ configFile: false, logLevel: 'silent', root: folder },
          ...(isBackend && { ssr: { noExternal: true } }),
          build: {
            ...{ outDir, target: 'es2022', ssr: isBackend },
            rollupOptions: {
              ...{ input: join(folder, file), preserveEntrySignatures: 'strict' },
              // A slow machine gets a warning about the time that plug-ins take.
              onwarn: (warning) => warning.code !== 'PLUGIN_TIMINGS' && warn(warning),
              output: { entryFileNames: 'entry.js' },
            },
          },
        });
      } else {
        const result = await esbuild({
          ...{ bundle: true, splitting: true, format: 'esm', target: 'es2022', jsx: 'automatic', logLevel: 'silent' },
          ...{ entryPoints: { entry: join(folder, file) }, outdir: outDir, platform: isBackend ? 'node' : 'browser' },
          // The configuration of the repository would resolve packages to their sources.
          tsconfigRaw: {},
        });
        result.warnings.forEach(warn);
      }
      const files = await readdir(outDir, { recursive: true });
      return { entry: `${name}/entry.js`, files: files.filter((path) => path.endsWith('.js')), warnings };
    },
    remove: () => rm(work, { recursive: true, force: true }),
  };
}
