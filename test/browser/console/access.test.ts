import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Block } from '../../../src/contract/block.js';
import type { TestIdentity } from '../../../src/contract/users/test-identity.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages, heights } from '../../support/console-pages.js';
import { createUser, newEmail, newPhone } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', DEFAULT_REGION: 'US' });
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
const blockOf = async (address: string) =>
  (await admin<Block[]>('GET', `/blocks?filter=address:eq:${address}`)).body[0];
const row = (page: Page, address: string | null) => page.getByRole('row', { name: address ?? '' });
const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name });

test('an operator blocks an address, changes the block, unblocks the address, and undoes the unblock', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/access', { as: await operator() });
  await page.getByText('No address is blocked').waitFor();
  await page.getByRole('button', { name: 'Block an address…' }).click();
  const save = page.getByRole('button', { name: 'Block the address' });
  expect(await save.isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('example.com');
  await save.click();
  await page.getByText(/This must be an IP address/).waitFor();
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('203.0.113.77/24');
  await page.getByLabel('Reason').fill('Guesses passwords');
  await save.click();
  await row(page, '203.0.113.0/24').click();
  expect(await blockOf('203.0.113.0/24')).toMatchObject({ reason: 'Guesses passwords', ends_at: null });
  await page.getByRole('button', { name: 'Change…' }).click();
  await page.getByLabel('Blocked', { exact: true }).selectOption('For 7 days');
  await page.getByRole('button', { name: 'Change the block' }).click();
  await page.getByText('6 days left').filter({ visible: true }).click();
  expect((await blockOf('203.0.113.0/24'))?.ends_at).toEqual(expect.any(String));
  await inDialog(page, 'Unblock').click();
  await page.getByText('No address is blocked').waitFor();
  expect(await blockOf('203.0.113.0/24')).toBeUndefined();
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, '203.0.113.0/24').waitFor();
  expect((await blockOf('203.0.113.0/24'))?.ends_at).toEqual(expect.any(String));
  await expectNoErrorsOrSidewaysScroll();
});

test('a block of your own address must be confirmed a second time', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/access', { as: await operator() });
  await page.getByRole('button', { name: 'Block an address…' }).click();
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('127.0.0.0/8');
  const save = page.getByRole('button', { name: 'Block the address' });
  await save.click();
  await page.getByText(/Your own address is in this range/).waitFor();
  expect(await save.isDisabled()).toBe(true);
  await page.getByLabel('Block it anyway').check();
  expect(await save.isEnabled()).toBe(true);
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await blockOf('127.0.0.0/8')).toBeUndefined();
  await expectNoErrorsOrSidewaysScroll();
});

test('an operator creates a test identity, whose code is shown once, and deletes it', async () => {
  const user = await createUser(postern, { name: 'Store Reviewer', phone: newPhone() });
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/access?view=tests', { as: await operator() });
  await page.getByText('No test identity').waitFor();
  await page.keyboard.press('c');
  await page.getByLabel('Phone number or mail address').fill(`(${user.phone?.slice(2, 5)}) ${user.phone?.slice(5)}`);
  await page.getByLabel('Fixed code').fill('424 242');
  await page.getByRole('button', { name: 'Create the test identity' }).click();
  await page.getByText('424242').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await row(page, user.phone).getByText('Store Reviewer').filter({ visible: true }).waitFor();
  const [made] = (await admin<TestIdentity[]>('GET', `/test-identities?filter=user_id:${user.id}`)).body;
  expect(made?.identity.value).toBe(user.phone);
  expect(await page.content()).not.toContain('424242');
  await row(page, user.phone).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Store Reviewer' }).click();
  await page.getByText(/^Test identity until/).waitFor();
  await page.goBack();
  await row(page, user.phone).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete the test identity' }).click();
  await page.getByText('No test identity').waitFor();
  expect((await admin('GET', `/test-identities/${made?.id}`)).status).toBe(404);
  await expectNoErrorsOrSidewaysScroll();
});

test('a refused test identity shows the reason at the field of its address', async () => {
  const support = await createUser(postern, { phone: newPhone(), role: 'support' });
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/access?view=tests', { as: await operator() });
  await page.getByRole('button', { name: 'New test identity…' }).click();
  await page.getByLabel('Phone number or mail address').fill(support.phone ?? '');
  await page.getByRole('button', { name: 'Create the test identity' }).click();
  await page.getByText(/Test identities are for users without a role/).waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('a support agent sees that an address of a user accepts a fixed code, but not the page about these addresses', async () => {
  const user = await createUser(postern, { email: newEmail() });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const identity = { type: 'email', value: user.email };
  expect((await admin('POST', '/test-identities', { identity, expires_at })).status).toBe(201);
  const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users/${user.id}`, {
    as: await operator('support'),
  });
  await page.getByText(/^Test identity until/).waitFor();
  expect(await page.getByRole('link', { name: 'Access' }).count()).toBe(0);
  await expectNoErrorsOrSidewaysScroll();
});

test('the page has no finding of axe-core in any theme and width, also in Spanish', async () => {
  await admin('POST', '/blocks', {
    address: '198.51.100.0/24',
    reason: 'W'.repeat(200),
    ends_at: '2099-01-01T00:00:00Z',
  });
  const identity = { type: 'email', value: `${'w'.repeat(60)}@example.com` };
  await admin('POST', '/test-identities', { identity, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  const as = await operator();
  for (const view of ['blocks', 'tests']) {
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(`/console/access?view=${view}`, {
      as,
      language: 'es',
    });
    await page.getByRole('row').nth(1).waitFor();
    for (const width of [1280, 390] as const) {
      await page.setViewportSize({ width, height: heights[width] });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await expectAccessible();
      }
      await expectNoErrorsOrSidewaysScroll();
    }
  }
});
