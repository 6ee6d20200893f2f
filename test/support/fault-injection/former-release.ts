import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: project })).stdout.trim();
}

/** A built service in a temporary folder. */
export interface Release {
  /** The path of its command. */
  readonly program: string;
  remove(): Promise<void>;
}

/** A built service of the former release. */
export interface FormerRelease extends Release {
  /** The tag or the commit. */
  readonly version: string;
}

/**
 * The newest tag of a release. Before the first release: the newest commit that has only migrations of the present ones,
 * and not all of them, so that this release upgrades its database. If there is none, because the baseline itself is the
 * last change, the commit with the present migrations. Needs the history of the repository.
 */
async function findFormerRelease(): Promise<string> {
  const tags = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-version:refname');
  const [newest] = tags.split('\n');
  if (newest) return newest;
  const names = (await readdir(join(project, 'migrations'))).sort();
  const digests = (await git('hash-object', ...names.map((name) => `migrations/${name}`))).split('\n');
  const present = digests.map((digest, index) => `${digest} migrations/${names[index]}`);
  const commits = (await git('log', '--format=%H', '--', 'migrations')).split('\n');
  const candidates: { commit: string; count: number }[] = [];
  for (const commit of commits) {
    // A branch may have a migration of the present ones under another number.
    const files = (await git('ls-tree', '--format=%(objectname) %(path)', commit, 'migrations/')).split('\n');
    // A merge may have left the built console out.
    const isWhole = (await git('ls-tree', commit, 'console/built')) !== '';
    if (isWhole && files.every((file) => present.includes(file))) candidates.push({ commit, count: files.length });
  }
  const former = candidates.find(({ count }) => count < present.length) ?? candidates[0];
  if (former === undefined) throw new Error('no commit has the present migrations: commit them first');
  return former.commit;
}

/**
 * Builds the former release in a temporary folder. Each file is translated on its own, so that it takes seconds. It uses the
 * installed packages. Those that only the former release needs are installed beside it.
 */
export async function buildFormerRelease(): Promise<FormerRelease> {
  const version = await findFormerRelease();
  const folder = await mkdtemp(join(tmpdir(), 'postern-former-'));
  const archive = join(folder, 'former.tar');
  await git('archive', `--output=${archive}`, version, 'src', 'migrations', 'console/built', 'package.json');
  await run('tar', ['-xf', archive, '-C', folder]);
  for (const name of await readdir(join(folder, 'src'), { recursive: true })) {
    const target = join(folder, 'dist', name.replace(/\.ts$/, '.js'));
    if (!/\.m?[tj]s$/.test(name)) continue;
    const text = await readFile(join(folder, 'src', name), 'utf8');
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, name.endsWith('.ts') ? ts.transpileModule(text, options).outputText : text);
  }
  await installMissing(folder);
  return { version, ...(await releaseIn(folder)) };
}

/** Installs the dependencies of the release in this folder that the project no longer has. */
async function installMissing(folder: string): Promise<void> {
  const dependenciesIn = async (path: string) => {
    const { dependencies } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    return dependencies;
  };
  const present = await dependenciesIn(project);
  const missing = Object.entries(await dependenciesIn(folder)).filter(([name]) => !(name in present));
  if (missing.length === 0) return;
  const packages = missing.map(([name, version]) => `${name}@${version}`);
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', '--prefix', join(folder, 'dist'), ...flags, ...packages], { cwd: folder });
}

/**
 * Copies the built service into a temporary folder and adds a migration for each table, as the next release may have it:
 * a new column. So a release runs on a schema that it does not know, also if the former release has the same migrations.
 */
export async function buildNextRelease(
  tables: readonly string[],
): Promise<Release & { readonly added: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-next-'));
  for (const path of ['dist', 'migrations', 'console/built', 'package.json']) {
    await cp(join(project, path), join(folder, path), { recursive: true });
  }
  const added = tables.map((table) => ({ table, name: `9999_${table}.sql` }));
  for (const { table, name } of added) {
    await writeFile(join(folder, 'migrations', name), `alter table ${table} add column of_next_release text;`);
  }
  return { added: added.map(({ name }) => name), ...(await releaseIn(folder)) };
}

async function releaseIn(folder: string): Promise<Release> {
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
  return { program: join(folder, 'dist/cli/bin.js'), remove: () => rm(folder, { recursive: true }) };
}

const options: ts.TranspileOptions = {
  compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
};
