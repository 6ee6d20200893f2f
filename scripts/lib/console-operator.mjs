// A browser with an operator of the console, for the pictures and the benchmark.
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const password = 'a battery of horses';

/** Fills the set-up page up to the code of the app. @param {import('playwright-core').Page} page */
export async function openSecondFactor(page) {
  await page.getByLabel('Your name').fill('Inés Carrascosa');
  await page.getByLabel('Mail address').fill(`ines${Math.random().toString().slice(2, 8)}@splitter.example`);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('The 6 digits').fill('4820');
}

/** The code of an authenticator app now (RFC 6238). @param {string} base32 */
function totp(base32) {
  const bits = [...base32].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeUInt32BE(Math.floor(Date.now() / 30_000), 4);
  const mac = createHmac('sha1', bytes).update(step).digest();
  const code = (mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff) % 1e6;
  return String(code).padStart(6, '0');
}

/**
 * Creates the first operator as a person does, and returns the cookies of the login.
 * @param {import('playwright-core').Browser} browser
 * @param {string} link
 */
export async function setUp(browser, link) {
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  await page.goto(link);
  await openSecondFactor(page);
  const secret = (await page.locator('code', { hasText: /^(?:[A-Z2-7]{4} ?){6,}$/ }).innerText()).replaceAll(' ', '');
  await page.getByLabel('The 6 digits').fill(totp(secret));
  await page.getByLabel('I have saved them').check();
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/** The Chromium of this machine. */
export function launchBrowser() {
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
}

function chromiumPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((path) => names.map((name) => join(path, name)))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('there is no Chromium in the path');
  return found;
}
