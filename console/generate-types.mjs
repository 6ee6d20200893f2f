// Writes src/api/schema.ts: the types of docs/openapi.json.
//   node console/generate-types.mjs          needs a package registry
//   node console/generate-types.mjs --check  compares the digest in the file with that of the document; needs no registry
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const document = join(root, '../docs/openapi.json');
const file = join(root, 'src/api/schema.ts');
// A changed document makes the types stale, even if only a description changed: these are comments of the types.
const digest = createHash('sha256').update(readFileSync(document)).digest('hex');
const head = `// The types of docs/openapi.json. Written by console/generate-types.mjs: do not edit.\n// sha256 of the document: ${digest}\n`;

if (process.argv.includes('--check')) {
  const isCurrent = readFileSync(file, 'utf8').startsWith(head);
  if (!isCurrent) console.error('console/src/api/schema.ts is stale. Run: node console/generate-types.mjs');
  process.exitCode = isCurrent ? 0 : 1;
} else {
  generate();
}

function generate() {
  const work = mkdtempSync(join(tmpdir(), 'console-types-'));
  try {
    copyFileSync(document, join(work, 'openapi.json'));
    const packages = ['-p', '@hey-api/openapi-ts@0.99.0', '-p', 'typescript@5.9.3'];
    const options = ['-i', './openapi.json', '-o', 'out', '-p', '@hey-api/typescript', '--no-log-file'];
    const { status } = spawnSync('npx', ['-y', ...packages, 'openapi-ts', ...options], { cwd: work, stdio: 'inherit' });
    if (status === 0) {
      const [, ...types] = readFileSync(join(work, 'out/types.gen.ts'), 'utf8').split('\n');
      writeFileSync(file, head + types.join('\n'));
    }
    process.exitCode = status ?? 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
