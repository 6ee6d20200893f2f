import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Category } from '../../../src/contract/category.js';
import type { Notification } from '../../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', NOTIFICATION_TYPES: 'payment,pool' },
    // Mails have a link to unsubscribe.
    PUBLIC_URL: 'http://localhost:8080',
  });
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
const categoryOf = async (name: string) => (await admin<Category>('GET', `/categories/${name}`)).body;
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const group = (page: Page, name: string) => page.getByRole('group', { name, exact: true });
const templates = (page: Page) => page.getByRole('region', { name: 'Texts of the channels' });

test('an operator creates a category, fills all of its fields, and sees its messages', async () => {
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/categories', {
    as: await operator(),
  });
  await page.getByRole('row', { name: /payment/ }).waitFor();
  await button(page, 'New category…').click();
  await page.getByLabel('Name', { exact: true }).fill('billing');
  await button(page, 'Create the category').click();
  await page.getByRole('heading', { name: 'billing', level: 1 }).waitFor();
  await button(page, 'Add a language').click();
  const english = group(page, 'en');
  await english.getByLabel('Title').fill('Bills');
  await english.getByLabel('Description').fill('New bills and reminders');
  await page.getByLabel('Critical').check();
  await page.getByRole('combobox', { name: 'SMS', exact: true }).selectOption('Off');
  await page.getByLabel('How late a step may be').fill('72h');
  await button(page, 'Add a text').click();
  const push = group(page, 'push.en');
  await push.getByLabel('Title').fill('{{actor}}');
  await push.getByRole('textbox', { name: 'Text' }).fill('{{user.name}}: {{description}}');
  await button(page, 'Add a text').click();
  const mail = group(page, 'email.en');
  await mail.getByLabel('Subject').fill('A bill from {{actor}}');
  await mail.getByRole('textbox', { name: 'Text' }).fill('{{description}}');
  await mail.getByLabel('HTML').fill('<p>{{description}}</p>');
  await button(page, 'Save').click();
  await page.getByRole('heading', { name: 'Bills', level: 1 }).waitFor();
  expect(await categoryOf('billing')).toMatchObject({
    ...{ title: { en: 'Bills' }, description: { en: 'New bills and reminders' }, is_critical: true, ttl: '72h' },
    defaults: { inbox: 'on', push: 'on', email: 'on', sms: 'off' },
    steps: [{ channel: 'push', after: '0s', if: 'always' }],
    templates: {
      'push.en': { title: '{{actor}}', text: '{{user.name}}: {{description}}' },
      'email.en': { subject: 'A bill from {{actor}}', text: '{{description}}', html: '<p>{{description}}</p>' },
    },
  });
  const card = (name: string) => page.getByRole('region', { name, exact: true });
  await card('Push')
    .getByText(/: Grace Hopper paid you 12\.50/)
    .waitFor();
  await card('Mail').getByText('A bill from Grace Hopper').waitFor();
  await card('SMS').getByText('No text for this language').waitFor();
  expect(await button(page, 'Save').isDisabled()).toBe(true);
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
});

test('all faults are at their fields at once, and nothing is saved', async () => {
  await admin('PUT', '/categories/faulty', { title: { en: 'Faulty' } });
  const { page, expectAccessible } = await open('/console/categories/faulty', { as: await operator() });
  await group(page, 'en').getByRole('textbox', { name: 'Language' }).fill('not a language');
  await page.getByLabel('After').fill('soon');
  await page.getByLabel('How late a step may be').fill('for ever');
  await button(page, 'Add a text').click();
  await group(page, 'push.en').getByRole('textbox', { name: 'Text' }).fill('{{{actor}}}');
  await page.getByRole('textbox', { name: 'Schema of data' }).fill('{"type": "nothing"}');
  await button(page, 'Save').click();
  await page.getByText(/fields need a correction/).waitFor();
  const faulty = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[aria-invalid]')].map((node) => node.labels[0].textContent)`,
  );
  expect(faulty).toEqual(['Language', 'After', 'How late a step may be', 'Text', 'Schema of data']);
  expect((await categoryOf('faulty')).ttl).toBeNull();
  await expectAccessible();
  // What the console itself sees comes before a request.
  await page.getByRole('textbox', { name: 'Schema of data' }).fill('{');
  await button(page, 'Save').click();
  await page.getByText('This is not JSON.').waitFor();
});

test('an operator gives a category a digest and a cap, and simulates a night', async () => {
  await admin('PUT', '/categories/club', {
    steps: [{ channel: 'push' }, { channel: 'email', after: '1h', if: 'unread' }],
  });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/categories/club', {
    as: await operator(),
  });
  await page.getByLabel('Mails can come as a digest').check();
  const digest = group(page, 'Digest');
  await digest.getByLabel('When').selectOption('every week');
  await digest.getByLabel('Day').selectOption('Tue');
  await digest.getByLabel('At', { exact: true }).fill('08:30');
  await digest.getByLabel('Shown at most').fill('10');
  await page.getByLabel('Limit how many reach a user').check();
  const cap = group(page, 'Cap');
  await cap.getByLabel('At most').fill('nothing');
  await cap.getByLabel('Within').fill('2d');
  await cap.getByLabel('Beyond it').selectOption('into the digest');
  await button(page, 'Save').click();
  await page.getByText('1 field needs a correction.').waitFor();
  expect(await cap.getByLabel('At most').getAttribute('aria-invalid')).toBe('true');
  await cap.getByLabel('At most').fill('2');
  await button(page, 'Save').click();
  await expect
    .poll(() => categoryOf('club'))
    .toMatchObject({
      digest: { every: 'weekly tue 08:30', max_items: 10 },
      cap: { count: 2, per: '2d', overflow: 'digest' },
    });

  await button(page, 'Simulate…').click();
  const simulator = page.getByRole('region', { name: 'Simulator' });
  const result = page.getByRole('region', { name: 'What happens' });
  await simulator.getByLabel('Time zone').selectOption('Europe/Madrid');
  await simulator.getByLabel('Mail', { exact: true }).selectOption('Digest');
  const times = ['2030-06-03T18:00', '2030-06-03T22:30', '2030-06-03T23:15'];
  for (const [place, time] of times.entries())
    await group(page, `Notification ${place + 1}`)
      .getByLabel('Published')
      .fill(time);
  await result.getByText('Mail sent: notifications 1, 2, and 3').waitFor();
  await result.getByText('Push on hold: notification 2').waitFor();
  await result
    .getByText(/^Until Tue,? 4 Jun 2030, 07:00\./)
    .first()
    .waitFor();
  // What is read meanwhile is not pushed in the morning.
  await group(page, 'Notification 2').getByLabel('Read').fill('2030-06-04T06:00');
  await result.getByText('Mail sent: notifications 1 and 3').waitFor();
  await result.getByText('Notification 2 is read').waitFor();
  await result.getByText('Push not sent: notification 2').waitFor();
  await button(page, 'Add a notification').click();
  await expect.poll(() => group(page, 'Notification 4').getByLabel('Published').inputValue()).toBe('2030-06-04T00:15');
  await group(page, 'Notification 4').getByLabel('Data').fill('{');
  await group(page, 'Notification 4').getByText('This is not JSON.').waitFor();
  await button(page, 'Remove notification 4').click();
  await simulator.getByLabel('Quiet hours').uncheck();
  await result.getByText('Push pushed: notification 2').waitFor();
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
  // Without the digest, nothing refers to it.
  await page.getByLabel('Mails can come as a digest').uncheck();
  await button(page, 'Save').click();
  await expect.poll(async () => (await categoryOf('club')).digest).toBeNull();
  expect((await categoryOf('club')).cap?.overflow).toBe('drop');
});

test('a category that is off in the inbox warns about a step that asks whether it is read', async () => {
  await admin('PUT', '/categories/quiet', { steps: [{ channel: 'push', after: '1h', if: 'unread' }] });
  const { page } = await open('/console/categories/quiet', { as: await operator() });
  const warning = page.getByText('does not go then');
  await page.getByRole('combobox', { name: 'Inbox', exact: true }).waitFor();
  expect(await warning.count()).toBe(0);
  await page.getByRole('combobox', { name: 'Inbox', exact: true }).selectOption('Off');
  await warning.waitFor();
});

test('what is typed stays over a reload, until it is discarded', async () => {
  await admin('PUT', '/categories/draft', { title: { en: 'Draft' } });
  const { page } = await open('/console/categories/draft', { as: await operator() });
  await group(page, 'en').getByLabel('Title').fill('Half written');
  await page.getByText('You have changes that are not saved.').waitFor();
  await page.reload();
  await expect.poll(() => group(page, 'en').getByLabel('Title').inputValue()).toBe('Half written');
  await button(page, 'Discard the changes').click();
  await expect.poll(() => group(page, 'en').getByLabel('Title').inputValue()).toBe('Draft');
});

test('the operator gets a test, in the category', async () => {
  await admin('PUT', '/categories/trial', {});
  const person = await operator();
  const { page } = await open('/console/categories/trial', { as: person });
  await page.getByLabel('Actor').fill('Ada Lovelace');
  await button(page, 'Send it to me').click();
  await button(page, 'See what became of it').click();
  await page.getByText('Ada Lovelace').first().waitFor();
  const path = `/users/${person.session.user_id}/notifications?filter=category:eq:trial`;
  const { body } = await admin<readonly Notification[]>('GET', path);
  expect(body).toMatchObject([{ actor: 'Ada Lovelace' }]);
});

test('a category is deleted after its name is typed, and that of a notification type gets the defaults again', async () => {
  await admin('PUT', '/categories/old', {});
  await admin('PUT', '/categories/pool', { title: { en: 'Pools' } });
  const { page } = await open('/console/categories/old', { as: await operator() });
  await button(page, 'Delete…').click();
  await page.getByText('Notifications keep its name.').waitFor();
  const confirm = button(page, 'Delete the category');
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel('Type old to confirm').fill('old');
  await confirm.click();
  await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
  expect((await admin('GET', '/categories/old')).status).toBe(404);
  await page.getByRole('row', { name: /Pools/ }).click();
  await button(page, 'Reset…').click();
  await page.getByLabel('Type pool to confirm').fill('pool');
  await button(page, 'Reset the category').click();
  await page.getByRole('heading', { name: 'pool', level: 1, exact: true }).waitFor();
  expect((await categoryOf('pool')).title).toEqual({});
});

test('all categories are replaced by a file, after the difference and all faults were shown', async () => {
  await admin('PUT', '/categories/leaving', {});
  const { page, expectAccessible } = await open('/console/categories', { as: await operator() });
  await button(page, 'All as a file…').click();
  const field = page.getByRole('dialog').getByLabel('Categories');
  const all = JSON.parse(await field.inputValue()) as Category[];
  const next = [
    ...all
      .filter(({ name }) => name !== 'leaving')
      .map((each) => (each.name === 'payment' ? { ...each, ttl: '1h' } : each)),
    { name: 'arriving', title: { en: 'Arriving' } },
  ];
  await field.fill(JSON.stringify([...next, { name: 'wrong', ttl: 'long' }]));
  await button(page, 'Compare').click();
  await page.getByText(/wrong\.ttl/).waitFor();
  await field.fill(JSON.stringify(next));
  await button(page, 'Compare').click();
  await page.getByText('payment (ttl)').waitFor();
  expect(await page.getByRole('dialog').getByRole('listitem').allInnerTexts()).toEqual([
    'arriving',
    'payment (ttl)',
    'leaving',
  ]);
  await expectAccessible();
  expect((await admin('GET', '/categories/leaving')).status).toBe(200);
  await button(page, 'Replace all').click();
  await page.getByRole('row', { name: /Arriving/ }).waitFor();
  expect((await admin('GET', '/categories/leaving')).status).toBe(404);
});

test('a set that somebody has changed meanwhile is not replaced', async () => {
  const { page } = await open('/console/categories', { as: await operator() });
  await button(page, 'All as a file…').click();
  await page.getByRole('dialog').getByLabel('Categories').waitFor();
  await admin('PUT', '/categories/meanwhile', {});
  await button(page, 'Compare').click();
  await page.getByText('Another operator has changed a category').waitFor();
});

test.each([
  ['en', 'Categories'],
  ['es', 'Categorías'],
] as const)('the page fits a phone in %s', async (language, title) => {
  await admin('PUT', '/categories/phone', {
    title: { en: 'W'.repeat(255), es: 'فواتير' },
    templates: { 'sms.es': { text: '{{description}}' } },
    digest: { every: '1h' },
    cap: { count: 3, per: '1d' },
  });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/categories', {
    ...{ as: await operator(), width: 390, language },
  });
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  await expectNoErrorsOrSidewaysScroll();
  await page.goto(`${postern.url}/console/categories/phone`);
  await templates(page)
    .or(page.getByRole('region', { name: 'Textos de los canales' }))
    .waitFor();
  await button(page, /^Simul(ate|ar)…$/).click();
  await page.getByText(/Notification 3 is published|Se publica la notificación 3/).waitFor();
  await expectAccessible();
  await expectNoErrorsOrSidewaysScroll();
});

test('a support agent sees no categories', async () => {
  const { page } = await open('/console', { as: await operator('support') });
  await page.getByRole('link', { name: 'Users' }).first().waitFor();
  expect(await page.getByRole('link', { name: 'Categories' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Suppressions' }).count()).toBe(1);
});
