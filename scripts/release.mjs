// `npm run release -- --dry-run`: builds and checks everything that a release consists of, and publishes nothing.
// `npm run release -- v0.1.0 [folder]` does the same for a tag, and leaves the files in the folder (by default `release`): the
// packages, the list of all packages that Postern runs with (SBOM), the notes and the checksums. The workflow `release.yml` publishes
// them. That needs the accounts of the project at npm and at the code host, so no command here does it.
import './lib/require-node.mjs';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notesOf, problemsOf } from './lib/release.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const isDryRun = process.argv.includes('--dry-run');
const [tag, folder = 'release'] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

const { version } = JSON.parse(read('package.json'));
const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
const problems = problemsOf({
  version,
  tag: tag ?? (isDryRun ? `v${version}` : undefined),
  isDryRun,
  versions: Object.fromEntries([
    ...packages.map((path) => [`${path}/package.json`, JSON.parse(read(`${path}/package.json`)).version]),
    ...['version', 'appVersion'].map((name) => [
      `deploy/helm/Chart.yaml, ${name}`,
      new RegExp(`^${name}: "?([^"\\n]+)`, 'm').exec(read('deploy/helm/Chart.yaml'))?.[1],
    ]),
    ['docs/openapi.json', JSON.parse(read('docs/openapi.json')).info.version],
  ]),
  changelog: read('CHANGELOG.md'),
});
if (problems.length > 0) {
  console.error(problems.map((problem) => `- ${problem}`).join('\n'));
  process.exit(1);
}

const out = isDryRun ? mkdtempSync(join(tmpdir(), 'postern-release-')) : join(root, folder);
if (!isDryRun && existsSync(out)) {
  console.error(`${out} exists already`);
  process.exit(1);
}
mkdirSync(out, { recursive: true });
try {
  // Each package builds itself before it is packed. `--built`: this has just happened.
  const pack = [
    'pack',
    '--silent',
    '--pack-destination',
    out,
    ...(process.argv.includes('--built') ? ['--ignore-scripts'] : []),
  ];
  npm(...pack, ...packages.map((path) => `./${path}`));
  npm(...pack);
  writeFileSync(join(out, 'postern-sbom.cdx.json'), npm('run', '--silent', 'sbom'));
  writeFileSync(join(out, 'notes.md'), notesOf(read('CHANGELOG.md'), version));
  writeFileSync(join(out, 'SHA256SUMS'), checksums(out));
  for (const name of readdirSync(out).sort()) {
    console.log(`${name}  ${(statSync(join(out, name)).size / 1024).toFixed(0)} KB`);
  }
  console.log(isDryRun ? `${version} can be released. Nothing was published.` : `The files are in ${folder}.`);
} finally {
  if (isDryRun) rmSync(out, { recursive: true });
}

function npm(...args) {
  return execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** In the format of `sha256sum --check`. */
function checksums(from) {
  const lines = readdirSync(from).map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(from, name)))
        .digest('hex')}  ${name}`,
  );
  return `${lines.sort().join('\n')}\n`;
}
