import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Category } from '../../../src/contract/category.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type Environment, runCommand, temporaryFolder } from '../command.js';

let postern: TestApp;
let env: Environment;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  const settings = { SECRET_KEY: 'k'.repeat(64), NOTIFICATION_TYPES: 'payment,request' };
  postern = await startTestApp(settings);
  folder = await temporaryFolder();
  env = { ...settings, ...postern.databaseEnv };
});
afterAll(async () => {
  await postern?.close();
  await folder?.remove();
});
beforeEach(() => postern.api('PUT', '/admin/v1/categories', { bearer: postern.adminKey, body: [] }));

const notifications = (...args: string[]) => runCommand(['notifications', ...args], env);
const stored = async () =>
  (await postern.api<Category[]>('GET', '/admin/v1/categories', { bearer: postern.adminKey })).body;
let files = 0;
/** A new folder with these files. */
async function folderOf(contents: Readonly<Record<string, unknown>>): Promise<string> {
  files += 1;
  const path = join(folder.path, `set-${files}`);
  await mkdir(path);
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(join(path, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return path;
}

const billing = { title: { en: 'Bills' }, templates: { 'push.en': { text: '{{description}}' } } };

test('a folder is compared, tried and applied, and the same again differs in nothing', async () => {
  const before = await stored();
  const path = await folderOf({
    'billing.json': billing,
    'payment.json': { title: { en: 'Payments' } },
    'notes.md': '',
  });
  const differs = await notifications('diff', path);
  expect(differs).toEqual({
    ...{ code: 1, stderr: '' },
    stdout: '+ billing\n~ payment\n    title.en\n      + "Payments"\n',
  });
  const tried = await notifications('apply', '--dry-run', path);
  expect(tried).toMatchObject({ code: 0, stdout: `${differs.stdout}Nothing was written (dry run).\n` });
  expect(await stored()).toEqual(before);
  expect(await notifications('apply', path)).toMatchObject({ code: 0, stdout: `${differs.stdout}Written.\n` });
  expect(await stored()).toMatchObject([
    { name: 'billing', title: { en: 'Bills' } },
    { name: 'payment', title: { en: 'Payments' } },
    { name: 'request', title: {} },
  ]);
  expect(await notifications('diff', path)).toEqual({ code: 0, stdout: 'Nothing differs.\n', stderr: '' });
  const events = await postern.api<{ type: string; actor: string }[]>('GET', '/admin/v1/events?limit=1', {
    bearer: postern.adminKey,
  });
  expect(events.body).toMatchObject([{ type: 'categories.changed', actor: 'cli' }]);
});

test('a file with the answer of the API is the same set, and what it does not have is deleted', async () => {
  await notifications('apply', await folderOf({ 'billing.json': billing }));
  const all = await stored();
  const path = join(await folderOf({ 'all.json': all }), 'all.json');
  expect((await notifications('diff', path)).code).toBe(0);
  await writeFile(path, JSON.stringify(all.filter(({ name }) => name !== 'billing')));
  expect(await notifications('diff', path)).toMatchObject({ code: 1, stdout: '- billing\n' });
  const applied = await notifications('apply', '--json', path);
  expect(JSON.parse(applied.stdout)).toEqual({ created: [], changed: [], deleted: ['billing'] });
  expect((await stored()).map(({ name }) => name)).toEqual(['payment', 'request']);
});

test('all faults are shown with their file and path, and nothing is written', async () => {
  const before = await stored();
  const path = await folderOf({
    'billing.json': { titel: { en: 'Bills' }, steps: [{ channel: 'fax' }] },
    'news.json': { templates: { 'push.en': { text: '{{nothing}}' } }, data_schema: { type: 'object', pattern: 'x' } },
    'payment.json': { title: { en: 'Payments' } },
  });
  const applied = await notifications('apply', path);
  expect([applied.code, applied.stdout]).toEqual([1, '']);
  const places = applied.stderr.split('\n').map((line) => line.trim());
  expect(places[0]).toMatch(/^There are \d faults, and nothing was written:$/);
  for (const place of ['billing.json: titel:', 'billing.json: steps.0.channel:', 'news.json: templates.push.en.text:'])
    expect(places.some((line) => line.startsWith(join(path, place)))).toBe(true);
  expect(places.some((line) => line.startsWith(join(path, 'news.json: data_schema')))).toBe(true);
  expect(await stored()).toEqual(before);
  // As for diff(1), 2 is trouble, not a difference.
  expect((await notifications('diff', path)).code).toBe(2);
  const one = join(await folderOf({ 'all.json': [{ name: 'billing', ttl: 'soon' }] }), 'all.json');
  expect((await notifications('apply', one)).stderr).toContain(`${one}: billing (0).ttl:`);
});

test.each([
  ['a file that is no JSON', { 'billing.json': '{"title": ' }, 'is not JSON'],
  ['a name that is not that of the file', { 'billing.json': { name: 'bills' } }, 'the name must be billing'],
  ['a folder without files', { 'notes.md': '' }, 'has no file that ends in .json'],
])('%s is refused', async (_, contents, message) => {
  const applied = await notifications('apply', await folderOf(contents));
  expect([applied.code, applied.stderr]).toEqual([1, expect.stringContaining(message)]);
});

test('types come from files without a database, or from the database', async () => {
  const schema = {
    type: 'object',
    required: ['sum'],
    properties: { sum: { type: 'number', description: 'In the currency of `code`.' }, code: { enum: ['EUR', 'USD'] } },
  };
  const path = await folderOf({ 'billing.json': { ...billing, data_schema: schema } });
  const out = join(path, 'types.ts');
  const written = await runCommand(['notifications', 'types', path, '--out', out], {
    DATABASE_URL: 'postgres://nowhere.invalid/x',
  });
  expect(written).toEqual({ code: 0, stdout: '', stderr: '' });
  const text = await readFile(out, 'utf8');
  expect(text).toContain('  readonly billing: {\n    /** In the currency of `code`. */\n    readonly sum: number;\n');
  expect(text).toContain(`    readonly code?: "EUR" | "USD" | undefined;\n`);
  await notifications('apply', path);
  const { stdout } = await notifications('types');
  expect(stdout).toContain('  readonly billing: {\n');
  expect(stdout).toContain('  readonly payment: Readonly<Record<string, unknown>>;\n');
});
