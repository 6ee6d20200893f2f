import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'check-imports.mjs');

const FOLDERS = [
  ...['cli', 'app', 'http', 'delivery', 'webhooks', 'account', 'login', 'users', 'sessions', 'notifications'],
  ...['credentials', 'devices', 'identities', 'limits', 'messages', 'audit', 'config', 'database', 'lib', 'contract'],
];
const MODULES = [...FOLDERS.map((folder) => `src/${folder}/a.ts`), 'src/http/lists/b.ts', 'test/acceptance/a.test.ts'];

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

test('imports of lower folders pass', async () => {
  writeModules([
    'src/cli/a.ts -> src/app/a.ts',
    'src/cli/a.ts -> src/config/a.ts',
    'src/app/a.ts -> src/delivery/a.ts',
    'src/app/a.ts -> src/config/a.ts',
    'src/app/a.ts -> src/http/a.ts',
    'src/http/a.ts -> src/http/lists/b.ts',
    'src/http/a.ts -> src/login/a.ts',
    'src/http/a.ts -> src/notifications/a.ts',
    'src/http/a.ts => src/database/a.ts',
    'src/delivery/a.ts => src/messages/a.ts',
    'src/delivery/a.ts => src/notifications/a.ts',
    'src/account/a.ts -> src/login/a.ts',
    'src/login/a.ts -> src/sessions/a.ts',
    'src/sessions/a.ts -> src/identities/a.ts',
    'src/notifications/a.ts -> src/database/a.ts',
    'src/identities/a.ts -> src/limits/a.ts',
    'src/limits/a.ts -> src/audit/a.ts',
    'src/audit/a.ts -> src/database/a.ts',
    'src/database/a.ts -> src/lib/a.ts',
    'src/lib/a.ts -> src/contract/a.ts',
  ]);
  expect(await check()).toEqual({ code: 0, stdout: '21 modules of src, 20 imports, 0 violations\n', stderr: '' });
});

test('other imports are refused by the rule of their folder, type imports included', async () => {
  writeModules([
    'src/config/a.ts -> src/database/a.ts',
    'src/contract/a.ts => src/lib/a.ts',
    'src/lib/a.ts => src/database/a.ts',
    'src/database/a.ts => src/audit/a.ts',
    'src/login/a.ts => src/notifications/a.ts',
    'src/notifications/a.ts -> src/identities/a.ts',
    'src/sessions/a.ts -> src/login/a.ts',
    'src/delivery/a.ts -> src/messages/a.ts',
    'src/delivery/a.ts => src/http/a.ts',
    'src/http/a.ts -> src/database/a.ts',
    'src/http/a.ts => src/config/a.ts',
    'src/cli/a.ts -> src/delivery/a.ts',
    'test/acceptance/a.test.ts -> src/app/a.ts',
    'src/app/a.ts -> src/nowhere.ts',
  ]);
  const { code, stderr } = await check();
  expect(code).toBe(1);
  expect(
    stderr
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('no-folder-cycles'))
      .sort(),
  ).toEqual([
    'acceptance-tests-import-no-source: test/acceptance/a.test.ts -> src/app/a.ts',
    'cli-imports-only-what-is-below: src/cli/a.ts -> src/delivery/a.ts',
    'config-imports-only-what-is-below: src/config/a.ts -> src/database/a.ts',
    'contract-imports-only-what-is-below: src/contract/a.ts -> src/lib/a.ts',
    'database-imports-only-what-is-below: src/database/a.ts -> src/audit/a.ts',
    'delivery-imports-only-types-of-its-consumers: src/delivery/a.ts -> src/messages/a.ts',
    'delivery-imports-only-what-is-below: src/delivery/a.ts -> src/http/a.ts',
    'http-imports-only-types-of-database: src/http/a.ts -> src/database/a.ts',
    'http-imports-only-what-is-below: src/http/a.ts -> src/config/a.ts',
    'lib-imports-only-what-is-below: src/lib/a.ts -> src/database/a.ts',
    'login-imports-only-what-is-below: src/login/a.ts -> src/notifications/a.ts',
    'no-unresolved-imports: src/app/a.ts -> ./../nowhere.js',
    'notifications-imports-only-what-is-below: src/notifications/a.ts -> src/identities/a.ts',
    'sessions-imports-only-what-is-below: src/sessions/a.ts -> src/login/a.ts',
  ]);
});

test('folders that import each other are refused, at every depth', async () => {
  writeModules(['src/http/a.ts -> src/http/lists/b.ts', 'src/http/lists/b.ts -> src/login/a.ts']);
  write('src/http/lists/c.ts', "export type T = 1;\nimport '../d.js';");
  write('src/http/d.ts', 'export type T = 1;');
  expect(await check()).toMatchObject({
    code: 1,
    stderr: 'no-folder-cycles: src/http -> src/http/lists -> src/http\n',
  });
});

test('a folder of src without a position in the order is refused', async () => {
  writeModules([]);
  write('src/extra/a.ts', "import '../lib/a.js';\nexport type T = 1;");
  expect(await check()).toMatchObject({
    code: 1,
    stderr: 'every-folder-has-a-place: src/extra/a.ts -> src/lib/a.ts\n',
  });
});

test('tests without a source file are refused', async () => {
  writeModules(['src/lib/a.ts -> src/contract/a.ts']);
  write('test/audit/a-more.test.ts', '');
  write('test/audit/other.test.ts', '');
  const { code, stderr } = await check();
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toEqual(['no-source: test/audit/other.test.ts mirrors no file of src']);
});

test('a check that found no modules fails', async () => {
  mkdirSync(join(root, 'src'));
  write('test/acceptance/lone.test.ts', '');
  expect(await check()).toMatchObject({ code: 1, stderr: 'Nothing was checked.\n' });
});
