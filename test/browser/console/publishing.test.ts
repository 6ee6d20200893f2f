import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Category } from '../../../src/contract/category.js';
import type { Notification } from '../../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { plain } from '../../support/image-fixtures.js';
import { createInboxes } from '../../support/inbox.js';
import {
  button,
  choose,
  description,
  dryRun,
  figure,
  linesOf,
  paste,
  path,
  publish,
} from '../../support/notification-form.js';
import { type FcmFake, startFcm } from '../../support/push-fakes/fcm.js';
import { createUser, newEmail, newPhone, signIn } from '../../support/users.js';

let fcm: FcmFake;
let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  fcm = await startFcm();
  postern = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none', APP_NAME: 'Splitter' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  await fcm?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const inboxOf = async (id: string) => (await admin<Notification[]>('GET', `/users/${id}/notifications`)).body;

describe('publishing', () => {
  test('to people by their addresses, and names the addresses that nobody has', async () => {
    const ada = await createUser(postern, { email: newEmail() });
    const grace = await createUser(postern, { phone: newPhone() });
    const { page } = await open(path, { as: await operator() });
    const spaced = `${grace.phone}`.replace(/(\d{3})/g, '$1 ').trim();
    await paste(page, [`${ada.email}`.toUpperCase(), spaced, ada.id, 'nobody@example.com']);
    await description(page).fill('Dinner is at eight');
    await dryRun(page);
    expect(await figure(page, 'Lines refused').innerText()).toBe('1');
    await publish(page, '2 people');
    await page.getByText('Published to 2 people.').waitFor();
    expect([(await inboxOf(ada.id)).length, (await inboxOf(grace.id)).length]).toEqual([1, 1]);
  });

  test('to the users of a filtered list, with their number before it is sent', async () => {
    const name = `Group ${randomUUID()}`;
    const users = await Promise.all(Array.from({ length: 3 }, () => createUser(postern, { name })));
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(
      `/console/users?q=${encodeURIComponent(name)}`,
      { as: await operator() },
    );
    await page.getByRole('checkbox').first().check();
    await button(page, 'Notify…').click();
    // The three selected ones.
    await page.getByText('3 ids').waitFor();
    await page.goBack();
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: 'Notify all…' }).click();
    await page.getByText('3 users match now.').waitFor();
    await expectAccessible();
    await description(page).fill('The group meets today');
    await dryRun(page);
    await publish(page, '3 people');
    await page.getByText('Published to 3 people.').waitFor();
    for (const { id } of users) expect(await inboxOf(id)).toHaveLength(1);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('to one person who was found by name, with an image, and shows the delivery', async () => {
    const name = `Grace ${randomUUID()}`;
    const user = await createUser(postern, { name });
    await signIn(postern, user, { make: 'Google', model: 'Pixel 9', gcm_device_token: randomUUID() });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(path, { as: await operator() });
    await choose(page, name);
    await page.getByLabel('Key').fill('received');
    await page.getByLabel('Actor (title of the push)').fill('Ada');
    await page.getByLabel('Number').fill('0.10');
    await description(page).fill('Ada paid you 0.10');
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button(page, 'Image').click()]);
    await chooser.setFiles({ name: 'lunch.png', mimeType: 'image/png', buffer: await plain(64, 64).png().toBuffer() });
    await button(page, 'Remove the image').waitFor();
    await page.getByRole('radio', { name: 'Inbox' }).check();
    await page.getByRole('img', { name: 'The image of the notification' }).waitFor();
    await dryRun(page);
    await publish(page, '1 person');
    await page.getByText('Published to 1 person.').waitFor();
    const inbox = await inboxOf(user.id);
    expect(inbox).toHaveLength(1);
    expect(inbox[0]).toMatchObject({
      ...{ notification_type: 'payment', notification_key: 'received', actor: 'Ada', object_data_number: 0.1 },
      ...{ description: 'Ada paid you 0.10', image: { url: expect.stringContaining('/images/') } },
    });
    await page.getByRole('link', { name: 'See the delivery' }).click();
    await page.getByText('1 pushed').waitFor();
    await page.getByText('Google Pixel 9').waitFor();
    expect(new URL(page.url()).searchParams.get('id')).toBe(inbox[0]?.id);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('to a list of ids leaves out ids that no user has, and gives a file of the results', async () => {
    const known = await createInboxes(postern.database, 3);
    const unknown = randomUUID();
    const { page, expectNoErrorsOrSidewaysScroll } = await open(path, { as: await operator() });
    await paste(page, [...known, 'not-an-id', known[0]?.toUpperCase() ?? '', unknown]);
    await page.getByText('4 ids. 1 repeated id is used once.').waitFor();
    await description(page).fill('To a list');
    await dryRun(page);
    await page.getByText('Line 6: no such user.').waitFor();
    await page.getByText('Line 4: not a user id.').waitFor();
    expect(await figure(page, 'Lines refused').innerText()).toBe('2');
    await page.getByText('The 2 refused lines are left out.').waitFor();
    await publish(page, '3 people');
    await page.getByText('Published to 3 people.').waitFor();
    const [results] = await Promise.all([linesOf(page.waitForEvent('download')), button(page, 'Result file').click()]);
    expect(results.map(({ user_id, result }) => [user_id, result])).toEqual(known.map((id) => [id, 'published']));
    for (const [index, id] of known.entries()) {
      expect((await inboxOf(id)).map((one) => [one.id, one.description])).toEqual([[results[index]?.id, 'To a list']]);
    }
    await button(page, 'New notification').click();
    expect(await description(page).inputValue()).toBe('');
    await expectNoErrorsOrSidewaysScroll();
  });

  test.each([
    [
      'CSV',
      'ids.csv',
      (ids: readonly string[]) => ['name;user_id', ...ids.map((id) => `"a;""b""";${id}`)].join('\r\n'),
    ],
    ['NDJSON', 'ids.ndjson', (ids: readonly string[]) => ids.map((user_id) => JSON.stringify({ user_id })).join('\n')],
    ['plain text', 'ids.txt', (ids: readonly string[]) => `\uFEFF${ids.join('\n')}\n`],
  ])('to a file of ids in %s', async (_, name, write) => {
    const known = await createInboxes(postern.database, 2);
    const text = write([known[0] ?? '', randomUUID(), known[1] ?? '']);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(path, { as: await operator() });
    await page.getByRole('radio', { name: 'File' }).check();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button(page, 'Choose a file…').click()]);
    await chooser.setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByText('3 lines').waitFor();
    await description(page).fill(name);
    await dryRun(page);
    await page.getByText(`Line ${name.endsWith('csv') ? 3 : 2}: no such user.`).waitFor();
    await publish(page, '2 people');
    await page.getByText('Published to 2 people.').waitFor();
    for (const id of known) expect((await inboxOf(id)).map((one) => one.description)).toEqual([name]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('in a category that is found by its title, with its data in fields', async () => {
    const { body: defined } = await admin<Category>('PUT', '/categories/billing', {
      title: { en: 'Bills' },
      steps: [{ channel: 'push' }, { channel: 'sms', after: '1h', if: 'unread' }],
      data_schema: {
        required: ['sum'],
        properties: {
          sum: { type: 'number', title: 'Amount' },
          code: { enum: ['EUR', 'USD'] },
          note: { maxLength: 3, type: 'string' },
        },
      },
    });
    expect(defined.steps).toHaveLength(2);
    const user = await createUser(postern);
    const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open(path, { as: await operator() });
    await paste(page, [user.id]);
    await description(page).fill('You owe 12.50');
    const field = page.getByRole('combobox', { name: 'Category' });
    await field.fill('bill');
    const options = page.getByRole('listbox', { name: 'Categories' }).getByRole('option');
    expect(await options.allInnerTexts()).toEqual([expect.stringContaining('Push → SMS after 1h if it is not read')]);
    await expectAccessible();
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('billing');
    expect(await options.count()).toBe(0);
    await page.getByText('Reaches users by: Push → SMS after 1h if it is not read').waitFor();
    await button(page, 'Run').click();
    await page.getByText('Enter a value.').waitFor();
    await page.getByLabel('Amount', { exact: true }).fill('12,50');
    await page.getByText('Write a number with a point, such as 12.50.').waitFor();
    await page.getByLabel('Amount', { exact: true }).fill('12.50');
    await page.getByLabel('code (optional)').selectOption('EUR');
    await page.getByLabel('note (optional)').fill('late');
    await button(page, 'Run').click();
    // What only the service sees is at its field too.
    await expect.poll(() => page.getByLabel('note (optional)').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('note (optional)').fill('');
    await dryRun(page);
    await page.getByText('SMS: 1 not: The user has no address for this channel.').waitFor();
    await expectAccessible();
    await publish(page, '1 person');
    await page.getByText('Published to 1 person.').waitFor();
    const { body } = await admin(`GET`, `/users/${user.id}/notifications?include=extra`);
    expect(body).toMatchObject([{ extra: { category: 'billing', data: { sum: 12.5, code: 'EUR' } } }]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('in no category that does not exist, and in that of its type if none is chosen', async () => {
    const { page } = await open(path, { as: await operator() });
    await paste(page, await createInboxes(postern.database, 1));
    await description(page).fill('A misspelling');
    const field = page.getByRole('combobox', { name: 'Category' });
    await page.getByText('Reaches users by: Push', { exact: true }).waitFor();
    await field.fill('biling');
    await button(page, 'Run').click();
    await page.getByText('There is no category with this name.').waitFor();
    await field.fill('');
    await dryRun(page);
  });

  test('once, although the answer of the request was lost', async () => {
    const ids = await createInboxes(postern.database, 2);
    const { page } = await open(path, { as: await operator() });
    await paste(page, ids);
    await description(page).fill('Once');
    await dryRun(page);
    const keys: (string | undefined)[] = [];
    await page.route('**/notifications/batch', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort('connectionreset');
    });
    await publish(page, '2 people');
    await page.getByText('Published to 2 people.').waitFor();
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    for (const id of ids) expect(await inboxOf(id)).toHaveLength(1);
  });

  test('can be stopped and continued, also after a reload, and reaches each person once', async () => {
    // The text is so long that one request takes about 60 people.
    const long = '\u{1f600}'.repeat(4096);
    const ids = await createInboxes(postern.database, 150);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(path, { as: await operator() });
    const counts = async () => {
      const inboxes = await Promise.all(ids.map(inboxOf));
      return inboxes.map((inbox) => inbox.length);
    };
    await paste(page, ids);
    await description(page).fill(long);
    await dryRun(page);
    // The first request waits until the stop is asked for.
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/notifications/batch', async (route) => {
      await released;
      await route.continue();
    });
    await publish(page, '150 people');
    await button(page, 'Stop').click();
    await page.getByText('Stopping after this part…').waitFor();
    release();
    await page.getByText(/Stopped\. \d+ of 150 people have it\./).waitFor();
    const reached = (await counts()).filter((count) => count === 1).length;
    expect(reached).toBeGreaterThan(0);
    expect(reached).toBeLessThan(150);
    await page.reload();
    await page.getByText('The publication to 150 people was interrupted.').waitFor();
    await button(page, 'Continue').click();
    await page.getByText('Published to 150 people.').waitFor();
    expect(new Set(await counts())).toEqual(new Set([1]));
    await expectNoErrorsOrSidewaysScroll();
  });

  test('leaves out a person who was erased after the dry run', async () => {
    const [kept = '', erased = ''] = await createInboxes(postern.database, 2);
    const { page } = await open(path, { as: await operator() });
    await paste(page, [kept, erased]);
    await description(page).fill('Erased meanwhile');
    await dryRun(page);
    await admin('DELETE', `/users/${erased}`);
    await publish(page, '2 people');
    await page.getByText('Published to 1 person.').waitFor();
    await page.getByText('1 person was erased meanwhile and is left out.').waitFor();
    expect(await inboxOf(kept)).toHaveLength(1);
  });
});
