import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Publication } from '../../../src/contract/publication.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  browser = await launchBrowser();
  await admin('PUT', '/topics/club.chess', { title: 'Chess club' });
  for (let index = 0; index < 20; index += 1) {
    const user = await createUser(postern, { name: `Player ${index}` });
    await admin('PUT', `/topics/club.chess/subscriptions/${user.id}`);
  }
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const newest = async () => (await admin<Publication[]>('GET', '/publications?limit=1')).body[0];

test('a publication to a topic is estimated, published slowly, paused, resumed, cancelled and recalled', async () => {
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/publications', {
    as: await operator(),
  });
  await page.getByText('No publications', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'New publication' }).click();
  await page.getByRole('radio', { name: 'Topic' }).click();
  const topic = page.getByRole('combobox', { name: 'Topic' });
  await topic.fill('nothing');
  await page.getByLabel('Description').fill('The tournament begins on Friday');
  await page.getByRole('button', { name: 'Estimate' }).click();
  await expect.poll(() => topic.getAttribute('aria-invalid')).toBe('true');
  await topic.fill('chess');
  await page.getByRole('option', { name: /Chess club/ }).click();
  await page.getByLabel('Recipients a second').fill('1');
  await page.getByRole('button', { name: 'Estimate' }).click();
  await page.getByText('About 20 people would get it.').waitFor();
  await expectAccessible();
  await page.getByRole('button', { name: 'Publish to about 20 people' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
  // It runs for 20 seconds. The page follows it.
  await page.getByText(/^[1-9] of about 20$/).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect((await newest())?.status).toBe('paused');
  await expectAccessible();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByRole('button', { name: 'Cancel the publication' }).click();
  await page.getByText('cancelled', { exact: true }).waitFor();
  const { id = '', created = 0 } = (await newest()) ?? {};
  expect(created).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Recall…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(`It disappears from ${created} inbox`).waitFor();
  await dialog.getByRole('textbox').fill(id.slice(0, 8));
  await dialog.getByRole('button', { name: 'Recall the publication' }).click();
  await page.getByText(`Recalled: ${created} removed from inboxes.`).waitFor();
  expect((await newest())?.recall?.removed).toBe(created);
  await expectNoErrorsOrSidewaysScroll();
});

test('a publication is scheduled at a time of another zone, and changed unless somebody else has changed it', async () => {
  const someone = await createUser(postern, { name: 'Margaret Hamilton' });
  const { page } = await open('/console/publications/new', { as: await operator() });
  await page.getByRole('combobox', { name: 'Find people to notify' }).fill('Margaret');
  await page.getByRole('option', { name: 'Margaret Hamilton' }).click();
  await page.getByLabel('Description').fill('Good morning');
  await page.getByRole('radio', { name: 'At a time' }).click();
  const year = new Date().getUTCFullYear() + (new Date().getUTCMonth() < 6 ? 0 : 1);
  await page.getByLabel('Date and time').fill(`${year}-01-15T09:00`);
  if (new Date(`${year}-01-15`) < new Date()) await page.getByLabel('Date and time').fill(`${year}-12-15T09:00`);
  await page.getByLabel('Time zone').selectOption('Pacific/Auckland');
  await page.getByRole('button', { name: 'Estimate' }).click();
  await page.getByText('About 1 person would get it.').waitFor();
  await page.getByRole('button', { name: 'Schedule' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  const scheduled = await newest();
  // Auckland is 13 hours ahead in its summer.
  expect(scheduled?.send_at).toMatch(/T20:00:00/);
  expect(scheduled).toMatchObject({ status: 'scheduled', to: { count: 1 } });
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Description').fill('Good evening');
  const path = `/publications/${scheduled?.id}`;
  const { headers } = await postern.api('GET', `/admin/v1${path}`, { bearer: postern.adminKey });
  await postern.api('PATCH', `/admin/v1${path}`, {
    ...{ bearer: postern.adminKey, body: { rate: 7 }, headers: { 'If-Match': String(headers.etag) } },
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Somebody else has changed the publication.').waitFor();
  expect((await newest())?.rate).toBe(7);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  expect(await newest()).toMatchObject({ rate: null, notification: { description: 'Good evening' }, to: { count: 1 } });
  expect(someone.id).not.toBe('');
});

test('everyone is estimated on a phone in Spanish', async () => {
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/publications/new', {
    ...{ as: await operator(), width: 390, language: 'es', theme: 'dark' },
  });
  await page.getByRole('radio', { name: 'Todos' }).click();
  await page.getByLabel('Descripción').fill('Hola');
  await page.getByRole('button', { name: 'Estimar' }).click();
  await page.getByText(/La recibirían unas \d+ personas\./).waitFor();
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
});
