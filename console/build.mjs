// Builds the console into console/built/, which is committed: a start neither installs nor builds it (decision 42).
//   node console/build.mjs          installs what the build needs, checks types, builds
//   node console/build.mjs --check  compares the digests of the sources and of the built files; needs no packages
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('.', import.meta.url));
const built = join(root, 'built');
const digestFile = join(built, 'sources.sha256');
const sources = [
  'build.mjs',
  'index.html',
  'package.json',
  'package-lock.json',
  'src',
  'tsconfig.json',
  'vite.config.mjs',
  // What the console shares with the command line.
  '../src/users/import-file',
];

/**
 * @param {string} path of a file or a folder, below console/
 * @returns {string[]} the path itself, or those of all files below it, in a stable order
 */
function filesAt(path) {
  if (statSync(join(root, path)).isFile()) return [path];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => filesAt(`${path}/${name}`));
}

/** @param {string[]} paths */
function digestOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** One line each for the sources and for the built files: an edited or half committed build is found too. */
function digests(folder = 'built') {
  const files = filesAt(folder).filter((path) => !path.endsWith('/sources.sha256'));
  const names = files.map((path) => path.replace(folder, 'built'));
  const hash = createHash('sha256').update(names.join('\0'));
  for (const path of files) hash.update(readFileSync(join(root, path)));
  return `${digestOf(sources.flatMap(filesAt))}  sources\n${hash.digest('hex')}  built\n`;
}

/** @param {string} command @param {string[]} args */
function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(1);
}

/** Installs the exact packages of the lock file, unless they are here. */
function install() {
  const stamp = join(root, 'node_modules', '.console-install');
  const wanted = digestOf(['package-lock.json']);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

/** Compresses once, at the best level, what a server would compress for each request. @param {string} folder */
function compress(folder) {
  for (const path of filesAt(`${folder}/assets`).filter((name) => /\.(?:js|css|svg)$/.test(name))) {
    const file = join(root, path);
    const content = readFileSync(file);
    const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

async function build() {
  install();
  run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json']);
  const { build: bundle } = await import('vite');
  const side = `.build-${process.pid}`;
  mkdirSync(join(root, side));
  try {
    await bundle({ root, configFile: join(root, 'vite.config.mjs'), logLevel: 'warn', build: { outDir: side } });
    compress(side);
    writeFileSync(join(root, side, 'sources.sha256'), digests(side));
    rmSync(built, { recursive: true, force: true });
    renameSync(join(root, side), built);
  } finally {
    rmSync(join(root, side), { recursive: true, force: true });
  }
}

if (process.argv.includes('--check')) {
  const isCurrent = existsSync(digestFile) && readFileSync(digestFile, 'utf8') === digests();
  if (!isCurrent) console.error('console/built does not match its sources. Run: node console/build.mjs');
  process.exitCode = isCurrent ? 0 : 1;
} else {
  await build();
}
