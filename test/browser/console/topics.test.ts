import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Topic } from '../../../src/contract/topic.js';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createUser, newEmail } from '../../support/users.js';

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
const subscribers = async (key: string) =>
  (await admin<User[]>('GET', `/users?filter=topic:${key}&sort=created_at:asc`)).body.map(({ id }) => id);

test('an operator creates a topic, subscribes people, finds and unsubscribes one, and deletes the topic', async () => {
  const katherine = await createUser(postern, { name: 'Katherine Johnson' });
  const grace = await createUser(postern, { name: 'Grace Hopper' });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/topics', {
    as: await operator(),
  });
  await page.getByText('No topics yet').waitFor();
  await page.getByRole('button', { name: 'New topic…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Chess club');
  const key = dialog.getByLabel('Key');
  await key.fill('No Key');
  await dialog.getByRole('button', { name: 'Create the topic' }).click();
  await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true');
  await key.fill('club.chess');
  await dialog.getByLabel('Users may join by themselves').check();
  await dialog.getByRole('button', { name: 'Create the topic' }).click();
  await page.getByText('Nobody is subscribed').waitFor();
  await page.getByRole('button', { name: 'Add people…' }).click();
  for (const name of ['Katherine Johnson', 'Grace Hopper']) {
    await dialog.getByRole('combobox').fill(name);
    await dialog.getByRole('option', { name }).click();
  }
  await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await page.getByRole('row', { name: 'Katherine Johnson' }).waitFor();
  expect(await subscribers('club.chess')).toEqual([katherine.id, grace.id]);
  await expectAccessible();
  await page.getByRole('searchbox', { name: 'Find a subscribed person' }).fill('hopper');
  await expect.poll(() => page.getByRole('row', { name: 'Katherine Johnson' }).count()).toBe(0);
  await page.getByRole('row', { name: 'Grace Hopper' }).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Unsubscribe' }).click();
  await page.getByText('No subscribed person matches').waitFor();
  expect(await subscribers('club.chess')).toEqual([katherine.id]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('row', { name: 'Grace Hopper' }).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await dialog.getByLabel(/club\.chess/).fill('club.chess');
  await dialog.getByRole('button', { name: 'Delete the topic' }).click();
  await page.getByText('No topics yet').waitFor();
  expect((await admin<Topic>('GET', '/topics/club.chess')).status).toBe(404);
  await expectNoErrorsOrSidewaysScroll();
});

test('a pasted list subscribes and unsubscribes, and each line with a fault is named', async () => {
  const email = newEmail();
  const [one, two] = [await createUser(postern, { email }), await createUser(postern)];
  await admin('PUT', '/topics/club.go', { title: 'Go club' });
  await admin('PUT', `/topics/club.go/subscriptions/${two.id}`);
  const { page } = await open('/console/topics/club.go', { as: await operator() });
  await page.getByRole('button', { name: 'Paste a list…' }).click();
  const dialog = page.getByRole('dialog');
  const unknown = '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11';
  const lines = [
    { user_id: `email:${email}` },
    { user_id: two.id, remove: true },
    { user_id: 'nobody' },
    { user_id: unknown },
  ];
  await dialog.getByLabel('Users').fill(lines.map((line) => JSON.stringify(line)).join('\n'));
  await dialog.getByText('1 line has no user').waitFor();
  await dialog.getByRole('button', { name: 'Apply 3 lines' }).click();
  await dialog.getByText('2 lines are applied, 2 are not:').waitFor();
  const faults = await dialog.getByRole('listitem').allInnerTexts();
  expect(faults.map((text) => text.split(':')[0])).toEqual(['Line 3', 'Line 4']);
  expect(await subscribers('club.go')).toEqual([one.id]);
});

test('a topic with a publication that has not ended is not deleted, and the page says why, on a phone in Spanish', async () => {
  await admin('PUT', '/topics/used', { title: 'Used' });
  const publication = {
    ...{ to: { topic: 'used' }, send_at: new Date(Date.now() + 3_600_000).toISOString() },
    notification: { notification_type: 'request', description: 'later' },
  };
  const { body } = await admin<{ id: string }>('POST', '/publications', publication);
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/topics/used', {
    ...{ as: await operator(), width: 390, language: 'es' },
  });
  await page.getByRole('button', { name: 'Eliminar…' }).click();
  await page.getByRole('dialog').getByLabel(/used/).fill('used');
  await page.getByRole('button', { name: 'Eliminar el tema' }).click();
  await page.getByText('no ha terminado').waitFor();
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
  expect((await admin<Topic>('GET', '/topics/used')).status).toBe(200);
  await admin('POST', `/publications/${body.id}/cancel`);
});
