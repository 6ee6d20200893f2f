import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'check-imports.mjs');

const MODULES = [
  'src/main.ts',
  'src/config.ts',
  'src/cli/a.ts',
  'src/http/a.ts',
  'src/authentication/a.ts',
  'src/notifications/a.ts',
  'src/delivery/a.ts',
  'src/database/a.ts',
  'src/lib/a.ts',
  'src/contract/a.ts',
  'test/acceptance/a.test.ts',
];

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'postern-imports-'));
  write('package.json', '{"type":"module"}');
  write('tsconfig.json', '{"compilerOptions":{"module":"NodeNext"}}');
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Writes every module, with the imports given as `importer -> imported`, or `=>` for an import of types only. */
function writeModules(imports: readonly string[]): void {
  const lines = new Map(MODULES.map((path) => [path, ['export type T = 1;']]));
  for (const line of imports) {
    const [from = '', arrow, to = ''] = line.split(' ');
    const specifier = `./${relative(dirname(from), to).replace(/\.ts$/, '.js')}`;
    lines.get(from)?.push(arrow === '=>' ? `import type { T as A } from '${specifier}';` : `import '${specifier}';`);
  }
  for (const [path, content] of lines) write(path, content.join('\n'));
}

function check(): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT], { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

test('imports along the arrows pass', async () => {
  writeModules([
    'src/main.ts -> src/delivery/a.ts',
    'src/main.ts -> src/config.ts',
    'src/main.ts -> src/http/a.ts',
    'src/cli/a.ts -> src/main.ts',
    'src/cli/a.ts -> src/config.ts',
    'src/cli/a.ts -> src/database/a.ts',
    'src/http/a.ts -> src/authentication/a.ts',
    'src/http/a.ts -> src/notifications/a.ts',
    'src/http/a.ts => src/database/a.ts',
    'src/authentication/a.ts -> src/database/a.ts',
    'src/notifications/a.ts -> src/database/a.ts',
    'src/delivery/a.ts => src/authentication/a.ts',
    'src/delivery/a.ts => src/notifications/a.ts',
    'src/database/a.ts -> src/lib/a.ts',
    'src/lib/a.ts -> src/contract/a.ts',
  ]);
  expect(await check()).toEqual({ code: 0, stdout: '10 modules of src, 15 imports, 0 violations\n', stderr: '' });
});

test('imports against the arrows are refused, of types too, each by its rule', async () => {
  writeModules([
    'src/config.ts -> src/database/a.ts',
    'src/contract/a.ts => src/lib/a.ts',
    'src/lib/a.ts => src/database/a.ts',
    'src/database/a.ts => src/authentication/a.ts',
    'src/authentication/a.ts => src/notifications/a.ts',
    'src/notifications/a.ts -> src/authentication/a.ts',
    'src/delivery/a.ts -> src/authentication/a.ts',
    'src/delivery/a.ts => src/http/a.ts',
    'src/http/a.ts -> src/database/a.ts',
    'src/http/a.ts => src/config.ts',
    'src/cli/a.ts -> src/delivery/a.ts',
    'test/acceptance/a.test.ts -> src/main.ts',
    'src/main.ts -> src/nowhere.ts',
  ]);
  const { code, stderr } = await check();
  const found = stderr.trim().split('\n');
  expect(code).toBe(1);
  expect(found.filter((line) => !line.startsWith('no-cycles')).sort()).toEqual([
    'acceptance-tests-see-no-source: test/acceptance/a.test.ts -> src/main.ts',
    'authentication-imports-database-lib-contract: src/authentication/a.ts -> src/notifications/a.ts',
    'config-imports-lib-contract: src/config.ts -> src/database/a.ts',
    'contract-imports-nothing: src/contract/a.ts -> src/lib/a.ts',
    'database-imports-lib-contract: src/database/a.ts -> src/authentication/a.ts',
    'delivery-imports-database-lib-contract: src/delivery/a.ts -> src/http/a.ts',
    'delivery-knows-only-types-of-authentication-notifications: src/delivery/a.ts -> src/authentication/a.ts',
    'http-imports-authentication-notifications-lib-contract: src/http/a.ts -> src/config.ts',
    'http-knows-only-types-of-database: src/http/a.ts -> src/database/a.ts',
    'lib-imports-contract: src/lib/a.ts -> src/database/a.ts',
    'no-unresolved-imports: src/main.ts -> ./nowhere.js',
    'notifications-imports-database-lib-contract: src/notifications/a.ts -> src/authentication/a.ts',
    'only-main-and-cli-import-config: src/http/a.ts -> src/config.ts',
    'only-main-imports-delivery: src/cli/a.ts -> src/delivery/a.ts',
  ]);
  expect(found).toContain('no-cycles: src/authentication/a.ts -> src/notifications/a.ts');
});

test('a run that saw no modules does not pass', async () => {
  mkdirSync(join(root, 'src'));
  write('test/lone.test.ts', '');
  expect(await check()).toMatchObject({ code: 1, stderr: 'Nothing was checked.\n' });
});
