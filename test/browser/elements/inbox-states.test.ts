import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { createUser, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'off' });
});
afterAll(() => pages?.close());

const all = { tabs: '', archive: '', snooze: '' };
const inboxOf = (user: User, options: ShowOptions = {}) =>
  pages.show('postern-inbox', {
    login: { identity: user.username ?? '', password },
    attributes: { layout: 'list', ...all },
    ...options,
  });
async function publish(user: User, description: string, fields: object = {}): Promise<void> {
  const body = { user_id: user.id, notification_type: 'payment', description, ...fields };
  const { adminKey: bearer, api } = pages.app;
  expect((await api('POST', '/admin/v1/notifications', { bearer, body })).status).toBe(201);
}
const counts = 'client.createItemStates(postern).counts()';

test('the bell shows what was not seen, on every device, and reading, archiving and snoozing change it', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'one');
  await publish(user, 'two');
  const { page, events, expectAccessible, expectNoErrorsOrSidewaysScroll } = await inboxOf(user, { attributes: all });
  await page.getByRole('button', { name: 'Notifications, 2 unread' }).click();
  const rows = page.getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  await expect.poll(() => page.evaluate(counts)).toMatchObject({ unseen: 0, unread: 2 });
  await page.getByRole('button', { name: 'Archive: two' }).click();
  await expect.poll(() => rows.allInnerTexts()).toHaveLength(1);
  await page.getByRole('button', { name: 'Snooze: one' }).click();
  await expectAccessible();
  await page.getByRole('button', { name: /^Tomorrow/ }).click();
  await page.getByText('No notifications yet').waitFor();
  await page.getByRole('button', { name: 'Snoozed', exact: true }).click();
  await page.getByText('Snoozed until').waitFor();
  await page.getByRole('button', { name: 'End the snooze: one' }).click();
  await page.getByText('Nothing is snoozed').waitFor();
  await page.getByRole('button', { name: 'Archived', exact: true }).click();
  await page.getByRole('button', { name: 'Move to inbox: two' }).click();
  await page.getByRole('button', { name: 'Inbox', exact: true }).click();
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await expect.poll(() => page.evaluate(counts)).toMatchObject({ unread: 0 });
  await page.getByRole('button', { name: 'Mark as unread: two' }).click();
  await expect.poll(() => events('unread')).toContainEqual({ count: 1, capped: false });
  expect(await page.locator('[part~=item-unread]').count()).toBe(1);
  await expectNoErrorsOrSidewaysScroll();
});

test('an action is chosen with the keyboard, and the page decides whether its address opens', async () => {
  const user = await createUser(pages.app);
  const actions = [
    { key: 'accept', label: 'Accept', url: 'https://example.com/accepted' },
    { key: 'decline', label: 'Decline' },
  ];
  await publish(user, 'Dinner?', { actions, url: 'https://example.com/dinner' });
  await publish(user, 'bad', { expires_at: new Date(Date.now() + 1500).toISOString() });
  const { page, events, expectNoErrorsOrSidewaysScroll } = await inboxOf(user);
  await page.getByText('Dinner?').waitFor();
  expect(await page.getByRole('link', { name: /Dinner/ }).getAttribute('href')).toBe('https://example.com/dinner');
  // It expires while it is shown.
  await expect.poll(() => page.getByText('bad').count()).toBe(0);
  await page.evaluate(`element.addEventListener('postern-action', (event) => event.preventDefault())`);
  await page.getByRole('link', { name: 'Accept' }).press('Enter');
  await page.locator('[part=done]').getByText('Accept').waitFor();
  expect(await page.getByRole('button', { name: 'Decline' }).count()).toBe(0);
  expect(await events('action')).toMatchObject([{ item: { description: 'Dinner?' }, action: { key: 'accept' } }]);
  expect(new URL(page.url()).hostname).not.toBe('example.com');
  await expectNoErrorsOrSidewaysScroll();
});

test('the focus stays near what the user did, and Escape closes the times of a snooze only', async () => {
  const user = await createUser(pages.app);
  for (const description of ['one', 'two', 'three']) await publish(user, description);
  const { page } = await inboxOf(user, { attributes: { ...all, open: '' } });
  const focused = () =>
    page.evaluate<string>(
      'element.shadowRoot.activeElement?.getAttribute("aria-label") ?? element.shadowRoot.activeElement?.textContent',
    );
  await page.getByRole('button', { name: 'Mark as read: two' }).press('Enter');
  await expect.poll(focused).toBe('Mark as unread: two');
  await page.getByRole('button', { name: 'Snooze: two' }).press('Enter');
  await expect.poll(focused).toMatch(/^(Later today|Tomorrow)/);
  await page.keyboard.press('Escape');
  await expect.poll(focused).toBe('Snooze: two');
  expect(await page.getByRole('dialog').isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Archive: two' }).press('Enter');
  // The next notification is in its place.
  await expect.poll(focused).toContain('one');
});

test('an inbox without these attributes loads no code of them and asks for nothing more', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'one');
  const context = await pages.browser.newContext();
  const requested: string[] = [];
  context.on('request', (request) => requested.push(request.url()));
  const { page } = await inboxOf(user, { attributes: { layout: 'list' }, context });
  await page.getByText('one').waitFor();
  expect(requested.filter((url) => /include=extra|\/states|\/counts|items-/.test(url))).toEqual([]);
  expect(requested.some((url) => url.includes('/v1/notifications/page'))).toBe(true);
  // Only that changes when an attribute is added later.
  await page.evaluate(`element.setAttribute('archive', '')`);
  await page.getByRole('button', { name: 'Archive: one' }).waitFor();
  expect(await page.getByRole('button', { name: 'Snooze: one' }).count()).toBe(0);
});
