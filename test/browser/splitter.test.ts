import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { totpCode } from '../../src/lib/crypto/totp.js';
import { launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { fromBase32 } from '../support/factors.js';
import { freePort } from '../support/free-port.js';
import { plain } from '../support/image-fixtures.js';
import { BUILD_TIMEOUT } from '../support/process.js';
import { newPhone } from '../support/users.js';
import { startVendor, type Vendor } from '../support/vendor.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = join(root, 'examples/splitter');
let browser: Browser;
let splitter: ChildProcess;
let folder: string;
let vendor: Vendor;
let url: string;
let printed = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-splitter-'));
  vendor = await startVendor();
  const [SPLITTER_PORT, POSTERN_PORT] = (await Promise.all([freePort(), freePort()])).map(String);
  const OIDC_PROVIDERS = JSON.stringify({
    google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
  });
  const env = { SPLITTER_PORT, POSTERN_PORT, SPLITTER_DATA: folder, SPLITTER_MAIL_AFTER: '2s', OIDC_PROVIDERS };
  splitter = spawn('npm', ['run', 'splitter'], {
    ...{ cwd: root, env: { ...process.env, ...env, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' } },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  splitter.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  url = await eventually('Splitter', async () => /Splitter is ready at (\S+)/.exec(printed)?.[1], 240_000);
  browser = await launchBrowser();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  if (splitter?.exitCode === null) {
    splitter.kill('SIGTERM');
    await once(splitter, 'exit');
  }
  await vendor?.close();
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
/** The bills of a user who is signed in. Their heading is in the page from the beginning, and seems visible before the style sheet is loaded. */
async function expectBills(page: Page): Promise<void> {
  await page.locator('body[data-status=signed_in]').waitFor();
  await title(page, 'Your bills');
}
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const fill = (page: Page, label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value);
/** Looks at a page as axe-core does, and for what is wider than the window. */
async function expectSound(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })",
  );
  expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
  const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(content).toBe(window);
}
/** With ELEMENTS_PICTURES=1, the pages in both sizes and themes, into packages/elements/pictures/ (not in git). */
async function look(page: Page, name: string): Promise<void> {
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: width === 1280 ? 800 : 844 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expectSound(page);
      const path = join(root, `packages/elements/pictures/splitter-${name}-${width}-${colorScheme}.png`);
      if (process.env.ELEMENTS_PICTURES === '1') await page.screenshot({ path });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** A new user in a browser of their own. */
async function signUp(name: string): Promise<{ readonly page: Page; readonly phone: string }> {
  const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
  const phone = newPhone();
  await page.goto(url);
  await click(page, 'Create an account');
  await page.getByLabel(/phone number/i).fill(phone);
  await click(page, 'Continue');
  await fill(page, 'Code', await codeAfter(phone, []));
  // The code is sent when it is complete.
  await page.getByLabel(/^Name/).fill(name);
  await fill(page, 'Password', `the password of ${name}`);
  await click(page, 'Create an account');
  await expectBills(page);
  return { page, phone };
}

test('a page that loads without a login has no refused request in the console, also after a logout', async () => {
  const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
  const messages: string[] = [];
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
  await look(page, 'welcome');
  expect(messages).toEqual([]);

  const { page: other } = await signUp('edsger');
  watch(other);
  await title(other, 'No bills yet');
  await look(other, 'empty');
  await click(other, 'Sign out');
  await title(other, 'Sign in');
  await other.reload();
  await title(other, 'Sign in');
  expect(messages).toEqual([]);
});

async function addBill({ page }: { readonly page: Page }, bill: Readonly<Record<string, string>>, photo?: Buffer) {
  await click(page, 'New bill');
  for (const [name, value] of Object.entries(bill)) await page.fill(`dialog input[name=${name}]`, value);
  const file = { name: 'pizza.png', mimeType: 'image/png', buffer: photo ?? Buffer.alloc(0) };
  if (photo) await page.setInputFiles('input[name=photo]', file);
  await click(page, 'Add the bill');
}

test("friends sign up, split a bill with a photo, and see each other's changes at once", async () => {
  const [ada, bob] = [await signUp('ada'), await signUp('bob')];
  await addBill(ada, { title: 'Pizza', total: '20', friends: 'nobody-of-this-name' });
  await ada.page.getByText('Nobody has one of these names.').waitFor();
  await look(ada.page, 'new-bill');
  await click(ada.page, 'Cancel');
  await addBill(ada, { title: 'Pizza', total: '20', friends: 'bob' }, await plain(64, 64).png().toBuffer());
  await ada.page.getByText('You paid €20.00 · 0 of 1 paid back').waitFor();
  await bob.page.getByText('ada paid €20.00 · your share is €10.00').waitFor();
  await bob.page.getByRole('button', { name: 'Notifications, 1 unread' }).click();
  await bob.page.getByText('Your share of Pizza is €10.00.').waitFor();
  await bob.page.locator('[part=image]').waitFor();
  await look(bob.page, 'inbox');
  await bob.page.getByRole('link', { name: /Your share of Pizza/ }).click();
  const marked = bob.page.locator('.bills [aria-current=true]');
  await marked.filter({ hasText: 'Pizza' }).waitFor();
  await addBill(bob, { title: 'Tickets to the museum', total: '31,50', friends: 'ada' });
  await bob.page.getByText('You paid €31.50').waitFor();
  // The bills were shown again, and the mark stays.
  expect(await marked.allInnerTexts()).toEqual([expect.stringContaining('Pizza')]);
  await look(bob.page, 'bills');
  await bob.page.reload();
  await bob.page.getByRole('button', { name: 'Notifications', exact: true }).click();
  await click(bob.page, 'Pay €10.00');
  await bob.page.locator('[part=done]').getByText('Pay €10.00').waitFor();
  await bob.page.getByText('Paid', { exact: true }).waitFor();
  await bob.page.getByRole('button', { name: /^Archive: Your share/ }).click();
  await click(bob.page, 'Archived');
  await bob.page.getByRole('button', { name: /^Move to inbox: Your share/ }).waitFor();
  await look(bob.page, 'archived');
  await bob.page.keyboard.press('Escape');
  await ada.page.getByText('You paid €20.00 · 1 of 1 paid back').waitFor();
  await ada.page.getByRole('button', { name: /Notifications, \d unread/ }).click();
  await ada.page.getByText('Paid you €10.00 for Pizza.').waitFor();

  // The login in two steps.
  await click(bob.page, 'Sign out');
  await click(bob.page, 'Other ways to sign in');
  await click(bob.page, 'Text me a code');
  const before = codesTo(bob.phone);
  await bob.page.getByLabel(/phone number/i).fill(bob.phone);
  await click(bob.page, 'Continue');
  await title(bob.page, 'Enter the code');
  await fill(bob.page, 'Code', await codeAfter(bob.phone, before));
  await expectBills(bob.page);
});

test('a friend joins the dinner club and hears of a dinner, mutes it, and leaves', async () => {
  const [grace, alan] = [await signUp('grace'), await signUp('alan')];
  await grace.page.goto(`${url}#account`);
  await click(grace.page, 'Join Dinner club');
  await grace.page.getByRole('switch', { name: 'Dinner club Push' }).click();
  await look(grace.page, 'club');
  // The news of the club come as one mail a day, unless a member chooses otherwise.
  expect(await grace.page.getByRole('combobox', { name: 'Dinners of the club Email' }).inputValue()).toBe('digest');
  await click(alan.page, 'New bill');
  for (const [name, value] of Object.entries({ title: 'the Ritz', total: '90', friends: 'grace' }))
    await alan.page.fill(`dialog input[name=${name}]`, value);
  await alan.page.getByLabel('Tell the dinner club').check();
  await click(alan.page, 'Add the bill');
  // One from the bill, one from the club: a muted topic comes to the inbox all the same.
  await grace.page.getByRole('button', { name: 'Notifications, 2 unread' }).click();
  await grace.page.getByText('was at the Ritz.').waitFor();
  await grace.page.keyboard.press('Escape');
  await click(grace.page, 'Leave Dinner club');
  await grace.page.getByRole('button', { name: 'Join Dinner club' }).waitFor();
});

test('a friend signs up with an account at a provider, and signs in with it later', async () => {
  vendor.account = { sub: 'edsger', email: 'edsger@gmail.com', email_verified: true, name: 'Edsger' };
  const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
  await page.goto(url);
  for (let visit = 0; visit < 2; visit += 1) {
    // The second time, a mark is in the name.
    await page.getByRole('button', { name: /^Continue with Google/ }).click();
    await page.waitForURL((shown) => shown.origin === vendor.url);
    await page.click('a');
    await expectBills(page);
    expect(await page.evaluate('location.href')).toBe(`${url}/`);
    await click(page, 'Sign out');
    await title(page, 'Sign in');
    await page.getByText('Last used').waitFor();
  }
});

test('a share that a friend does not read is mailed', async () => {
  vendor.account = { sub: 'barbara', email: 'barbara@gmail.com', email_verified: true, name: 'Barbara' };
  const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
  await page.goto(url);
  await page.getByRole('button', { name: /^Continue with Google/ }).click();
  await page.waitForURL((shown) => shown.origin === vendor.url);
  await page.click('a');
  await expectBills(page);
  // Nobody looks at the inbox.
  await page.close();
  const alan = await signUp('alan');
  await addBill(alan, { title: 'Rent', total: '20', friends: 'Barbara' });
  const mailed = () => printed.match(/^Mail to barbara@gmail\.com: Your share of .*$/gm) ?? [];
  await eventually('the mail', async () => (mailed().length > 0 ? true : undefined));
  expect(mailed()).toEqual(['Mail to barbara@gmail.com: Your share of Rent is €10.00.']);
});

test('an account gets a second factor, shows its devices and asks for proofs', async () => {
  const { page, phone } = await signUp('grace');
  await page.getByRole('link', { name: 'Account', exact: true }).click();
  await page.getByText('This device', { exact: true }).waitFor();
  await page.getByText('What you are notified about').waitFor();
  await look(page, 'account');
  await click(page, 'Set up: Authenticator app');
  await click(page, 'Continue');
  await fill(page, 'Password', 'wrong');
  await click(page, 'Continue');
  await page.getByText('That is wrong or has expired.').waitFor();
  await fill(page, 'Password', 'the password of grace');
  await click(page, 'Continue');
  const key = (await page.locator('[part=secret]').innerText()).replaceAll(' ', '');
  await fill(page, 'Code of your authenticator app', totpCode(fromBase32(key), Math.floor(Date.now() / 30_000)));
  await click(page, 'Continue');
  const code = await page.locator('[part=recovery-codes] li').first().innerText();
  await click(page, 'I have saved them');
  await click(page, 'Continue');
  await page.getByRole('button', { name: 'New codes: Recovery codes' }).waitFor();
  await page.locator('#sign-out').click();

  await page.getByLabel('Email, phone or username').fill(phone);
  await click(page, 'Continue');
  await fill(page, 'Password', 'the password of grace');
  await click(page, 'Sign in');
  await click(page, 'Use a recovery code');
  await fill(page, 'Recovery code', code);
  await page.keyboard.press('Enter');
  await expectBills(page);
});

test('the example has less than 350 lines without its style, and less than 40 of them use Postern', async () => {
  const names = (await readdir(example, { recursive: true })).filter((name) => /\.(js|mjs|html)$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(example, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => !/^\s*(\/[/*].*)?$/.test(line));
  // Names of what the packages export, and of what their functions return.
  const uses = /\b(postern|inbox|sessionOf|defineElements)\b|@postern|postern-/i;
  expect(names).toHaveLength(5);
  expect(lines.length).toBeLessThan(350);
  expect(lines.filter((line) => uses.test(line)).length).toBeLessThan(40);
});
