import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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

/** A built service of the former release. */
export interface FormerRelease {
  /** The tag or the commit. */
  readonly version: string;
  /** The path of its command. */
  readonly program: string;
  remove(): Promise<void>;
}

/**
 * The newest tag of a release. Before the first release, the commit before the newest migration. Needs the history of the
 * repository.
 */
async function findFormerRelease(): Promise<string> {
  const tags = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-version:refname');
  const [newest] = tags.split('\n');
  if (newest) return newest;
  const commit = await git('log', '-1', '--format=%H', '--diff-filter=A', '--', 'migrations/*.sql');
  return git('rev-parse', `${commit}^`);
}

/**
 * Builds the former release in a temporary folder. Each file is translated on its own, so that it takes seconds. It uses the
 * installed packages.
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
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
  return {
    version,
    program: join(folder, 'dist/cli/bin.js'),
    remove: () => rm(folder, { recursive: true }),
  };
}

const options: ts.TranspileOptions = {
  compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
};
