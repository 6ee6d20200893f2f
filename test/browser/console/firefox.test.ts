import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createConsole } from '../../support/console.js';
import { eventually } from '../../support/eventually.js';
import { type FirefoxPage, launchFirefox } from '../../support/firefox.js';
import { createUser, password } from '../../support/users.js';

let postern: TestApp;
let firefox: Awaited<ReturnType<typeof launchFirefox>>;
let page: FirefoxPage;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  firefox = await launchFirefox();
  page = firefox.page;
}, 120_000);
afterAll(async () => {
  await firefox?.close();
  await postern?.close();
});

const { admin } = createAdministration(() => postern);
const { link, operator, codeOf } = createConsole(() => postern);

const all = (selector: string) => `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
/** An expression for the field with a label. */
const field = (label: string) =>
  `${all('label')}.find((one) => one.textContent.toLowerCase().includes(${JSON.stringify(label.toLowerCase())}))?.control`;
const button = (name: string, inside = '') =>
  `${all(`${inside} button`)}.findLast((one) => one.textContent.trim() === ${JSON.stringify(name)} && !one.disabled)`;
const isOn = (title: string) => page.until(`document.querySelector('h1')?.textContent === ${JSON.stringify(title)}`);
async function signOut(): Promise<void> {
  await page.click(`document.querySelector('[aria-label="Your account"]')`);
  await page.click(`${all('[role=menuitem]')}.find((one) => one.textContent.trim() === 'Sign out')`);
  await isOn('Sign in');
}

test('Firefox: a newcomer opens a set-up link and reaches the overview', async () => {
  await page.goto(`${postern.url}/console/setup#${await link()}`);
  await page.type(field('Your name'), 'Ines Carrascosa');
  await page.type(field('Mail address'), 'ines@example.com');
  await page.click(button('Next'));
  await page.type(field('Password'), password);
  await page.click(button('Next'));
  const key = `${all('code')}.map((one) => one.textContent.replaceAll(' ', '')).find((text) => /^[A-Z2-7]{24,}$/.test(text))`;
  await page.until(key);
  const secret = await page.evaluate<string>(key);
  await page.type(field('The 6 digits'), await codeOf({ id: '', expires_at: '', totp: { secret, uri: '' } }));
  await page.click(field('I have saved them'));
  await page.click(button('Open the console'));
  await isOn('Overview');
  const { body } = await admin<User[]>('GET', '/users?filter=email:eq:ines@example.com');
  expect(body).toMatchObject([{ role: 'operator', role_active: true }]);
  await signOut();
  expect(await page.faults()).toEqual([]);
});

test('Firefox: an operator signs in, finds a user, locks the user and signs out', async () => {
  const person = await operator();
  const user = await createUser(postern, { name: 'Grace <b>Hopper</b>' });
  await page.goto(`${postern.url}/console/users`);
  await page.type(field('Mail address, username or phone'), person.username);
  await page.type(field('Password'), password);
  await page.click(button('Sign in'));
  await page.until(field('6-digit code'));
  await person.app.rewind();
  await page.type(field('6-digit code'), await person.app.code());
  await isOn('Users');
  await page.type(`document.querySelector('input[type=search]')`, 'Hopper');
  await page.until(`new URLSearchParams(location.search).get('q') === 'Hopper'`);
  const row = `${all('tbody tr')}.find((one) => one.textContent.includes('Grace <b>Hopper</b>'))`;
  await page.click(row);
  await isOn('Grace <b>Hopper</b>');
  await page.click(button('Lock…'));
  await page.click(button('Lock', 'dialog[open]'));
  await eventually('the user is locked', async () => {
    const { body } = await admin<User>('GET', `/users/${user.id}`);
    return body.lock ?? undefined;
  });
  await signOut();
  expect(await page.faults()).toEqual([]);
});
