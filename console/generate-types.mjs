// Writes src/api/schema.ts: the types of docs/openapi.json. Needs a package registry.
//   node console/generate-types.mjs
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'console-types-'));
try {
  copyFileSync(join(root, '../docs/openapi.json'), join(work, 'openapi.json'));
  const packages = ['-p', '@hey-api/openapi-ts@0.99.0', '-p', 'typescript@5.9.3'];
  const options = ['-i', './openapi.json', '-o', 'out', '-p', '@hey-api/typescript', '--no-log-file'];
  const { status } = spawnSync('npx', ['-y', ...packages, 'openapi-ts', ...options], { cwd: work, stdio: 'inherit' });
  if (status === 0) {
    const [, ...types] = readFileSync(join(work, 'out/types.gen.ts'), 'utf8').split('\n');
    const head = '// The types of docs/openapi.json. Written by console/generate-types.mjs: do not edit.';
    writeFileSync(join(root, 'src/api/schema.ts'), [head, ...types].join('\n'));
  }
  process.exitCode = status ?? 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
