import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { totpCode } from '../../src/lib/crypto/totp.js';
import { launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { fromBase32 } from '../support/factors.js';
import { plain } from '../support/image-fixtures.js';
import { newPhone } from '../support/users.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = join(root, 'examples/splitter');
let browser: Browser;
let splitter: ChildProcess;
let folder: string;
let url: string;
let printed = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-splitter-'));
  splitter = spawn('npm', ['run', 'splitter'], {
    ...{ cwd: root, env: { ...process.env, SPLITTER_PORT: '0', SPLITTER_DATA: folder } },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  splitter.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  url = await eventually('Splitter', async () => /Splitter is ready at (\S+)/.exec(printed)?.[1], 240_000);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  if (splitter?.exitCode === null) {
    splitter.kill('SIGTERM');
    await once(splitter, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

/** The codes that were sent to a phone, as the terminal shows them. */
const codesTo = (phone: string) =>
  printed
    .split('\n')
    .filter((line) => line.includes(phone))
    .flatMap((line) => /\b\d{6}\b/.exec(line) ?? []);
const codeAfter = (phone: string, before: readonly string[]) =>
  eventually(`a code for ${phone}`, async () => codesTo(phone)[before.length]);

const title = (page: Page, text: string) => page.getByRole('heading', { name: text, exact: true }).waitFor();
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`main input[name=${name}]`, value);
  await click(page, 'OK');
}

/** A new user in a browser of their own. */
async function signUp(name: string): Promise<{ readonly page: Page; readonly phone: string }> {
  const page = await (await browser.newContext()).newPage();
  const phone = newPhone();
  await page.goto(url);
  await title(page, 'Sign in');
  await click(page, 'Sign up');
  await fill(page, { phone });
  await title(page, 'The code that we sent');
  await fill(page, { code: await codeAfter(phone, []), name, password: `the password of ${name}` });
  await title(page, 'Your bills');
  return { page, phone };
}

test('a page that loads without a login has no refused request in the console, also after a logout', async () => {
  const page = await (await browser.newContext()).newPage();
  const messages: string[] = [];
  // The example has no icon, which browsers report, too.
  const watch = (shown: Page) =>
    shown.on('console', (message) => {
      const { url: source } = message.location();
      if (source.includes('/v1/')) messages.push(`${message.text()} ${source}`);
    });
  watch(page);
  const asked = page.waitForResponse((answer) => answer.url().endsWith('/v1/sessions'));
  await page.goto(url);
  await title(page, 'Sign in');
  expect(await (await asked).json()).toEqual({ token: null });
  expect(messages).toEqual([]);

  const { page: other } = await signUp('edsger');
  watch(other);
  await click(other, 'Sign out');
  await title(other, 'Sign in');
  await other.reload();
  await title(other, 'Sign in');
  expect(messages).toEqual([]);
});

test("friends sign up, split a bill with a photo, and see each other's changes at once", async () => {
  const [ada, bob] = [await signUp('ada'), await signUp('bob')];
  await click(ada.page, 'New bill');
  const photo = await plain(64, 64).png().toBuffer();
  await ada.page.setInputFiles('input[name=photo]', { name: 'pizza.png', mimeType: 'image/png', buffer: photo });
  await fill(ada.page, { title: 'Pizza', total: '20', friends: 'bob' });
  await ada.page.getByText('Pizza: 20, 0 of 1 paid').waitFor();
  await bob.page.getByText('• Your share of Pizza is 10').waitFor();
  await bob.page.locator('nav img').waitFor();
  await bob.page.reload();
  await click(bob.page, 'Pay Pizza');
  await bob.page.getByText('Pizza: 20, 1 of 1 paid').waitFor();
  await ada.page.getByText('• 10 paid for Pizza').waitFor();
  await click(ada.page, '1 new');
  await ada.page.getByRole('button', { name: '0 new' }).waitFor();

  // The login in two steps.
  await click(bob.page, 'Sign out');
  await click(bob.page, 'Text me a code');
  const before = codesTo(bob.phone);
  await fill(bob.page, { phone: bob.phone });
  await title(bob.page, 'The code that we sent');
  await fill(bob.page, { code: await codeAfter(bob.phone, before) });
  await title(bob.page, 'Your bills');
});

test('an account gets a second factor, shows its devices and asks for proofs', async () => {
  const { page } = await signUp('grace');
  await click(page, 'Account');
  await page.getByRole('button', { name: '(this one)' }).waitFor();
  await click(page, 'Add an authenticator app');
  await fill(page, { password: 'wrong' });
  const note = () => page.locator('main p').first().textContent();
  await expect.poll(note).not.toBe('Please show that it is you.');
  await fill(page, { password: 'the password of grace' });
  await title(page, 'Your authenticator app');
  const [, key = ''] = /into the app: (\w+)/.exec((await note()) ?? '') ?? [];
  await fill(page, { code: totpCode(fromBase32(key), Math.floor(Date.now() / 30_000)) });
  await title(page, 'Keep these recovery codes');
  const code = (await note()) ?? '';
  await click(page, 'Done');
  await click(page, 'Sign out');

  await title(page, 'Sign in');
  await fill(page, { name: 'grace', password: 'wrong' });
  await page.locator('main p', { hasText: /\w/ }).waitFor();
  await fill(page, { name: 'grace', password: 'the password of grace' });
  await title(page, 'The code of your app');
  await click(page, 'Use a recovery code');
  await fill(page, { code });
  await title(page, 'Your bills');
});

test('the example has less than 400 lines, and less than 75 of them use Postern', async () => {
  const names = (await readdir(example, { recursive: true })).filter((name) => /\.(js|mjs|html)$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(example, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => !/^\s*(\/[/*].*)?$/.test(line));
  // Names of what the packages export, and of what their functions return.
  const uses =
    /\b(postern|client|login|state|inbox|account|devices|pending|choices?|problem|sessionOf|app\.confirm|recovery_codes|view)\b|@postern/i;
  expect(names).toHaveLength(5);
  expect(lines.length).toBeLessThan(400);
  expect(lines.filter((line) => uses.test(line)).length).toBeLessThan(75);
});
