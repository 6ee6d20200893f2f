import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hash as bcrypt } from '@node-rs/bcrypt';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createUser, passwordLogin } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);

/** A text that no other name of a test run contains. */
const unique = () => `t${randomUUID().slice(0, 8)}`;
const choose = (page: Page, name: string, content: string | Buffer) =>
  page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const row = (page: Page, line: string) => page.getByRole('row', { name: new RegExp(`^Line ${line}\\b`) });
/** The figure of a step above this word. */
const figure = (page: Page, step: string, word: string) =>
  page
    .getByRole('region', { name: step, exact: true })
    .locator('dl > div', { hasText: word })
    .locator('dd')
    .innerText();
const usersNamed = async (name: string) =>
  (await admin<{ data: User[]; page: { total: number } }>('GET', `/users/page?limit=100&search=${name}`)).body;

/** A promise that the test fulfils. */
function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

async function reportOf(page: Page): Promise<string[]> {
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Report' }).click();
  return (await readFile(await (await saved).path(), 'utf8')).trimEnd().split('\r\n');
}

describe('a CSV file', () => {
  test('is mapped, checked line by line, and imported without its invalid lines only if the operator chooses that', async () => {
    const name = unique();
    const existing = await createUser(postern, { email: `${name}.here@example.com` });
    const hash = '$2b$10$Db6D7gmOnHbGgE5.oj/xneYCTKyHS0DOBpIGEfWyUHRJf7ODCAyCG';
    const file = [
      'Correo;Vorname;Nachname;Passwort;Kundennummer;Usuario',
      `${name}.1@example.com;${name};Uno;${hash};k-1;${name}.1`,
      `"${name}.2@example.com";"${name}";"Zwei; drei\nvier";;k-2;`,
      `${name}.here@example.com;${name};Existing;;;`,
      `no address;${name};Bad;;;`,
      `${name}.1@example.com;${name};Twice;;;${name}.6`,
      `=cmd|' /C calc'!A0;${name};Formula;;;`,
      `${name}.9@example.com;${name};Too many;;;;x`,
      `;${name};Nobody;;;`,
    ].join('\r\n');
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/users', {
      as: await operator(),
    });
    await page.getByRole('link', { name: 'Import' }).click();
    await choose(page, 'users.csv', file);
    expect(await page.getByLabel('What Correo becomes').inputValue()).toBe('email');
    expect(await page.getByLabel('What Passwort becomes').inputValue()).toBe('password_hash');
    expect(await page.getByText(hash).count()).toBe(0);
    await page
      .getByLabel('What Kundennummer becomes')
      .selectOption({ label: 'Metadata member named like the heading' });

    await click(page, 'Check the file');
    await page.getByText('5 lines have errors').waitFor();
    expect(
      await Promise.all(['can be imported', 'exist already', 'cannot'].map((word) => figure(page, 'Dry run', word))),
    ).toEqual([...['2', '1', '5']]);
    await row(page, '6').getByText('Mail address', { exact: true }).first().waitFor();
    await row(page, '7').getByText('Another user has this value.').first().waitFor();
    await row(page, '9').getByText('The line has more cells than there are columns.').first().waitFor();
    await row(page, '5').getByRole('link', { name: 'This user exists already.' }).first().waitFor();
    expect((await usersNamed(name)).data.map(({ id }) => id)).toEqual([existing.id]);
    const checked = await reportOf(page);
    expect(checked[0]).toBe('line,result,id,user,field,code,message');
    expect(checked.filter((line) => line.startsWith('8,'))).toEqual([
      expect.stringMatching(/^8,failed,,'=cmd\|' \/C calc'!A0,email,/),
    ]);
    await expectAccessible();

    await click(page, 'Import only the 2 users without errors');
    await page.getByText('2 users were created.').waitFor();
    const report = await reportOf(page);
    expect(report.slice(1).map((line) => line.split(',').slice(0, 2).join(' '))).toEqual([
      ...['2 created', '3 created', '5 exists', '6 failed', '7 failed', '8 failed', '9 failed', '10 failed'],
    ]);
    const { data } = await usersNamed(name);
    expect(data.map(({ name: full, email, username, metadata }) => [full, email, username, metadata])).toEqual(
      expect.arrayContaining([
        [`${name} Uno`, `${name}.1@example.com`, `${name}.1`, { Kundennummer: 'k-1' }],
        [`${name} Zwei; drei\nvier`, `${name}.2@example.com`, null, { Kundennummer: 'k-2' }],
      ]),
    );
    expect(data.length).toBe(3);
    await page.getByRole('link', { name: 'See the users' }).click();
    await page.getByRole('row', { name: `${name} Uno` }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('recognises a column of external ids', async () => {
    const name = unique();
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', { as: await operator() });
    await choose(page, 'users.csv', `Nombre,Correo,Nº de cliente\n${name},${name}@example.com,K-${name}\n`);
    expect(await page.getByLabel('What Nº de cliente becomes').inputValue()).toBe('external_id');
    await click(page, 'Check the file');
    await click(page, 'Import 1 user');
    await page.getByText('1 user was created.').waitFor();
    const { data } = await usersNamed(name);
    expect(data.map(({ external_id }) => external_id)).toEqual([`K-${name}`]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('keeps the passwords of the users', async () => {
    const [name, secret] = [unique(), 'an old password of theirs'];
    const hash = await bcrypt(secret, 4);
    const { page } = await open('/console/users/import', { as: await operator() });
    await choose(page, 'users.csv', `username,password\n${name},bcrypt$${hash}\n`);
    await click(page, 'Check the file');
    await click(page, 'Import 1 user');
    await page.getByText('1 user was created.').waitFor();
    const { body } = await postern.api('POST', '/v1/tokens', { body: passwordLogin(name, secret) });
    expect(body.status).toBe('approved');
  });
});

describe('an NDJSON file', () => {
  const fileOf = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) =>
      JSON.stringify({ username: `${name}.${at + 1}`, name: `${name} ${at + 1}` }),
    ).join('\n');

  test('of 50,000 lines is checked, and the same user is found in two lines that are far apart', async () => {
    const name = unique();
    const twice = JSON.stringify({ username: `${name}.7`, name: 'The second one' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', { as: await operator() });
    await choose(page, 'users.ndjson', `${fileOf(name, 49_999)}\n${twice}\n`);
    await click(page, 'Check the file');
    await page.getByText('49,999 users can be imported. No line has an error.').waitFor({ timeout: 240_000 });
    await row(page, '50,000').getByText('Line 7 already has the same value.').first().waitFor();
    expect((await usersNamed(name)).page.total).toBe(0);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('stops after the running request, reports exactly what was done, and continues from there', async () => {
    const name = unique();
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', { as: await operator() });
    await choose(page, 'users.ndjson', fileOf(name, 1200));
    await click(page, 'Check the file');
    await page.getByText('1,200 users can be imported.').waitFor();
    let requests = 0;
    const arrived = gate();
    const released = gate();
    await page.route('**/admin/v1/users/import', async (route) => {
      requests += 1;
      if (requests === 2) arrived.resolve();
      if (requests === 2) await released.promise;
      await route.continue();
    });
    await click(page, 'Import 1,200 users');
    await arrived.promise;
    await click(page, 'Stop');
    released.resolve();
    await page.getByText('Stopped. All lines up to 1,000 are done, and nothing after it was sent.').waitFor();
    expect(requests).toBe(2);
    expect((await usersNamed(name)).page.total).toBe(1000);
    // The state is still here after a look at another page.
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goBack();
    await click(page, 'Continue');
    await page.getByText('1,200 users were created.').waitFor();
    const report = await reportOf(page);
    expect(report.slice(1).map((line) => line.split(',')[0])).toEqual(
      Array.from({ length: 1200 }, (_, at) => `${at + 1}`),
    );
    await expectNoErrorsOrSidewaysScroll();
  });

  test('whose response was lost reports which lines are uncertain, and creates no user twice when it continues', async () => {
    const name = unique();
    const { page } = await open('/console/users/import', { as: await operator() });
    await choose(page, 'users.ndjson', fileOf(name, 700));
    await click(page, 'Check the file');
    await page.getByText('700 users can be imported.').waitFor();
    let requests = 0;
    await page.route('**/admin/v1/users/import', async (route) => {
      requests += 1;
      if (requests !== 2) return route.continue();
      // The service gets it all, the browser nothing.
      await route.fetch();
      return route.abort('connectionreset');
    });
    await click(page, 'Import 700 users');
    await page.getByText('Interrupted. All lines up to 500 are done.').waitFor();
    await page.getByText('The answer for lines 501 to 700 was lost').waitFor();
    await page.getByText('500 users were created.').waitFor();
    expect([await figure(page, 'Import', 'created'), await figure(page, 'Import', 'exist already')]).toEqual([
      '500',
      '200',
    ]);
    const {
      page: { total },
    } = await usersNamed(name);
    expect(total).toBe(700);
  });
});

test('10,000 lines with errors are all listed, with only those near the screen in the page', async () => {
  const all = 10_000;
  const lines = Array.from({ length: all }, (_, index) => `no address ${index}`);
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', {
    as: await operator(),
    width: 390,
  });
  await choose(page, 'bad.csv', ['Correo', ...lines].join('\n'));
  await click(page, 'Check the file');
  await page.getByText('10,000 lines have errors').waitFor({ timeout: 120_000 });
  expect(await page.getByRole('table').last().getAttribute('aria-rowcount')).toBe(String(all + 1));
  expect(await page.locator('tbody tr[data-index]').count()).toBeLessThan(100);
  await eventually('the last line', async () => {
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    return (await page.getByText('no address 9999').count()) > 0 || undefined;
  });
  expect(await page.locator('tbody tr[data-index]').count()).toBeLessThan(100);
  // The three figures are in one line.
  const tops = await page.evaluate<number[]>(
    `[...document.querySelectorAll('dl:has(+ p[role=status]) > div')].map((one) => one.getBoundingClientRect().top)`,
  );
  expect(tops.length).toBe(3);
  expect(new Set(tops).size).toBe(1);
  await expectNoErrorsOrSidewaysScroll();
}, 180_000);

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in the %s theme at %i px', (theme, width) => {
  test('a hostile file in UTF-16 is shown as text, without findings of axe-core', async () => {
    const hostile = ['<img src=x onerror=alert(1)>', '\u202etxet', '"quoted"\r\nline', 'W'.repeat(10_000)];
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const lines = hostile.map((text) => [text, text, `${text}@example.com`].map(cell).join(';'));
    const text = `\uFEFF<b>id</b>;Nombre;Correo\r\n${lines.join('\r\n')}`;
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/users/import', {
      as: await operator(),
      theme,
      width,
    });
    await expectAccessible();
    await choose(page, '<svg onload=alert(1)>.csv', Buffer.from(text, 'utf16le'));
    await page
      .getByText(hostile[0] ?? '', { exact: true })
      .first()
      .waitFor();
    expect(await page.getByLabel('Encoding').inputValue()).toBe('utf-16le');
    await expectAccessible();
    await click(page, 'Check the file');
    await page.getByText('4 lines have errors').waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('a file that cannot be read', () => {
  test.each([
    ['users.xlsx', 'PK\u0003\u0004 a workbook', 'This is a workbook.'],
    ['users.csv', '', 'The file is empty.'],
    ['users.csv', Buffer.from([1, 0, 0, 0, 2]), 'The file is not text.'],
  ])('says why: %s', async (name, content, said) => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', { as: await operator() });
    await choose(page, name, content);
    await page.getByText(said).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('without a column that names the users cannot be checked, and says so', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', { as: await operator() });
    await choose(page, 'colours.csv', 'colour\nred\n');
    await page.getByText('Choose which column is').first().waitFor();
    expect(await page.getByRole('button', { name: 'Check the file' }).isDisabled()).toBe(true);
    await expectNoErrorsOrSidewaysScroll();
  });
});

test('a role that support may not give is refused on its line', async () => {
  const name = unique();
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', {
    as: await operator('support'),
  });
  await choose(page, 'users.csv', `username,role\n${name},operator\n${name}.2,user\n`);
  await click(page, 'Check the file');
  await page.getByText('One line has an error').waitFor();
  await click(page, 'Import only the 1 user without errors');
  await page.getByText('1 user was created.').waitFor();
  expect((await usersNamed(name)).data.map(({ username }) => username)).toEqual([`${name}.2`]);
  await expectNoErrorsOrSidewaysScroll();
});

test('the page is in Spanish for a Spanish browser', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users/import', {
    as: await operator(),
    language: 'es',
  });
  await choose(page, 'usuarios.csv', 'usuario\nuno\n');
  await click(page, 'Comprobar el archivo');
  await page.getByText('Se puede importar 1 usuario. Ninguna línea tiene errores.').waitFor();
  await expectNoErrorsOrSidewaysScroll();
});
