import type { Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { createUser, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'off' });
});
afterAll(() => pages?.close());

const inboxOf = (user: User, options: ShowOptions = {}) =>
  pages.show('postern-inbox', { login: { identity: user.username ?? '', password }, ...options });

async function publish(user: User, description: string, fields: object = {}): Promise<{ id: string }> {
  const body = { user_id: user.id, notification_type: 'payment', actor: 'Ada Lovelace', description, ...fields };
  const { adminKey: bearer, api } = pages.app;
  const answer = await api<{ id: string }>('POST', '/admin/v1/notifications', { bearer, body });
  expect(answer.status).toBe(201);
  return answer.body;
}

test('the bell counts what arrives, and opening it clears the number and marks nothing as read', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'Paid your share');
  const { page, events, expectNoErrorsOrSidewaysScroll, expectAccessible } = await inboxOf(user);
  const bell = page.getByRole('button', { name: 'Notifications, 1 unread' });
  await bell.waitFor();
  await expectAccessible();
  await publish(user, 'Asks for 12 €', { notification_type: 'request' });
  await page.getByRole('button', { name: 'Notifications, 2 unread' }).click();
  const panel = page.getByRole('dialog', { name: 'Notifications' });
  await expect.poll(() => panel.getByRole('listitem').allInnerTexts()).toHaveLength(2);
  expect((await panel.getByRole('listitem').allInnerTexts())[0]).toContain('Asks for 12 €');
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  expect(await page.locator('[part~=item-unread]').count()).toBe(2);
  await publish(user, 'The third');
  await expect.poll(() => panel.getByRole('listitem').count()).toBe(3);
  await expectAccessible();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'hidden' });
  // The focus is at the bell again.
  await expect.poll(() => page.evaluate('element.shadowRoot.activeElement?.className')).toBe('bell');
  expect(await page.evaluate('element.matches(":state(unread)")')).toBe(true);
  await publish(user, 'The fourth');
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor();
  await expect.poll(() => events('unread')).toContainEqual({ count: 4, capped: false });
  const { body } = await pages.app.api<{ unread_count: number }>('GET', '/v1/notifications/marker', {
    bearer: await page.evaluate('postern.getSession().then(({ token }) => token)'),
  });
  expect(body.unread_count).toBe(4);
  await expectNoErrorsOrSidewaysScroll();
});

test('the inbox works by keyboard, and a list that changes keeps the focus', async () => {
  const user = await createUser(pages.app);
  const first = await publish(user, 'First');
  await publish(user, 'Second');
  const { page, events, expectNoErrorsOrSidewaysScroll } = await inboxOf(user);
  await page.getByRole('button', { name: '2 unread' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('listitem').first().waitFor();
  const focused = () =>
    page.evaluate<string>('element.shadowRoot.activeElement?.closest(".item, .bell")?.textContent ?? ""');
  for (let step = 0; step < 10 && !(await focused()).includes('Second'); step += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toContain('First');
  await publish(user, 'Third');
  await expect.poll(() => page.getByRole('listitem').count()).toBe(3);
  expect(await focused()).toContain('First');
  const { adminKey: bearer, api } = pages.app;
  await api('DELETE', `/admin/v1/notifications/${first.id}`, { bearer });
  await expect.poll(() => page.getByRole('listitem').count()).toBe(2);
  expect(await focused()).toContain('Second');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await events('select')).toMatchObject([{ description: 'Second' }]);
  // Only the third is later than the one that was chosen. The panel has shown it already.
  await expect.poll(() => page.evaluate('client.createInbox(postern).marker()')).toMatchObject({ unread_count: 1 });
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  await expect.poll(() => page.evaluate('element.shadowRoot.activeElement?.className')).toBe('bell');
  await expectNoErrorsOrSidewaysScroll();
});

test('the empty state, Spanish, custom texts and text from right to left are shown', async () => {
  const user = await createUser(pages.app);
  const english = await inboxOf(user, { attributes: { layout: 'list' } });
  await english.page.getByText('No notifications yet').waitFor();
  await english.expectAccessible();
  await english.expectNoErrorsOrSidewaysScroll();
  const spanish = await inboxOf(user, { attributes: { layout: 'list' }, lang: 'es-MX' });
  await spanish.page.getByText('Aún no hay notificaciones').waitFor();
  await publish(user, 'Paid');
  const arabic = await inboxOf(user, {
    ...{ lang: 'ar', dir: 'rtl', attributes: { open: '' } },
    texts: {
      ar: {
        inbox: { inbox: 'الإشعارات', unread: '{count} غير مقروء', empty: 'لا توجد إشعارات', type_payment: 'المدفوعات' },
      },
    },
  });
  const panel = arabic.page.getByRole('dialog', { name: 'الإشعارات' });
  await panel.waitFor();
  const bell = await arabic.page.getByRole('button', { name: /الإشعارات/ }).boundingBox();
  const box = await panel.boundingBox();
  // The panel is inside the window, on the side of the bell.
  expect(bell?.x).toBeGreaterThan(640);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(1280);
  await arabic.expectAccessible();
  await arabic.expectNoErrorsOrSidewaysScroll();
});

test('a kind of notification is muted and switched on again', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'Paid');
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await inboxOf(user, {
    texts: { en: { inbox: { type_payment: 'Payments' } } },
    attributes: { open: '' },
  });
  const mutes = () =>
    page
      .evaluate<{ filter: string }[]>('client.createInbox(postern).mutes.list()')
      .then((all) => all.map((one) => one.filter));
  await page.evaluate(`client.createInbox(postern).mutes.add('actor:eq:Bob')`);
  await page.getByRole('listitem').first().waitFor();
  await page.getByRole('button', { name: 'Push settings' }).click();
  const box = page.getByRole('switch', { name: 'Payments' });
  expect(await box.isChecked()).toBe(true);
  await expectAccessible();
  await box.press('Space');
  await expect.poll(mutes).toContain('notification_type:eq:payment');
  await page.getByRole('button', { name: 'Switch on: actor:eq:Bob' }).click();
  await expect.poll(mutes).toEqual(['notification_type:eq:payment']);
  await box.press('Space');
  await expect.poll(mutes).toEqual([]);
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByText('Paid').waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('hostile texts and pictures have no effect', async () => {
  const user = await createUser(pages.app);
  const attack = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  await publish(user, `${attack}\u202e {count}`, { actor: attack, image_url: undefined });
  const { page, expectNoErrorsOrSidewaysScroll } = await inboxOf(user, { attributes: { layout: 'list' } });
  await expect.poll(() => page.getByRole('listitem').first().innerText()).toContain('onerror');
  expect(
    await page.evaluate('window.hit === undefined && element.shadowRoot.querySelector("script, .text img") === null'),
  ).toBe(true);
  await expectNoErrorsOrSidewaysScroll();
});

test('pages load more by a button, a filter and a limit narrow the list, and a page renders items itself', async () => {
  const user = await createUser(pages.app);
  for (const number of [1, 2, 3, 4]) {
    await publish(user, `Number ${number}`, { notification_type: number === 1 ? 'pool' : 'payment' });
  }
  const attributes = { layout: 'list', limit: '2', filter: 'notification_type:eq:payment' };
  const { page, until, expectNoErrorsOrSidewaysScroll } = await inboxOf(user, { attributes });
  await expect.poll(() => page.getByRole('listitem').count()).toBe(2);
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await expect.poll(() => page.getByRole('listitem').count()).toBe(3);
  await until('element.shadowRoot.activeElement?.textContent.includes("Number 2")');
  await page.evaluate('element.renderItem = ({ description }) => "<b>" + description + "</b>"');
  await expect.poll(() => page.getByRole('listitem').first().innerText()).toContain('<b>Number 4</b>');
  expect(await page.evaluate('element.matches(":state(unread)")')).toBe(true);
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await until('!element.matches(":state(unread)")');
  await expectNoErrorsOrSidewaysScroll();
});

test('a list without a connection shows that, keeps its rows, and continues later', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'Before');
  const { page } = await inboxOf(user, { attributes: { layout: 'list' } });
  await page.getByText('Before').waitFor();
  await page.context().setOffline(true);
  await page.evaluate('postern.getSession({ fresh: true }).catch(() => null)');
  // The emulated loss of the network does not cut an open stream, but prevents a new one.
  await page.evaluate('element.limit = 5');
  await page
    .getByRole('status')
    .filter({ hasText: /Loading|No connection/ })
    .first()
    .waitFor();
  await page.context().setOffline(false);
  await page.evaluate('dispatchEvent(new Event("online"))');
  await page.getByText('Before').waitFor();
});

test('hundreds of bells on a page share one stream and one list, and the time for an update grows as their number', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'The first');
  const context = await pages.browser.newContext();
  const requests: string[] = [];
  let openStreams = 0;
  const isStream = (url: string) => url.includes('/v1/notifications/stream');
  context.on('request', (request) => {
    if (request.method() === 'GET') requests.push(new URL(request.url()).pathname);
    if (request.method() === 'GET' && isStream(request.url())) openStreams += 1;
  });
  const onEnd = (request: Request) => {
    if (request.method() === 'GET' && isStream(request.url())) openStreams -= 1;
  };
  context.on('requestfailed', onEnd);
  context.on('requestfinished', onEnd);
  const { page, until, expectNoErrorsOrSidewaysScroll } = await inboxOf(user, { context });
  await page.evaluate(
    // The bell that is there already may show its number at any time.
    `window.times = [];
    window.wanted = undefined;
    document.addEventListener('postern-unread', ({ detail }) => detail.count === wanted && times.push(performance.now()));`,
  );
  let unread = 1;
  /** The milliseconds from the first bell to the last one that shows a publication. */
  async function spread(bells: number): Promise<number> {
    await page.evaluate(
      `document.querySelector('main').append(...Array.from({ length: ${bells} - document.querySelectorAll('postern-inbox').length },
        () => document.createElement('postern-inbox')))`,
    );
    const spreads: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      unread += 1;
      // A new bell may show the former number only now.
      await page.evaluate(`times.length = 0; window.wanted = ${unread};`);
      await publish(user, `To ${bells} bells, ${round}`);
      await until(`times.length === ${bells}`);
      spreads.push(await page.evaluate<number>('times.at(-1) - times[0]'));
    }
    return Math.min(...spreads);
  }
  const few = await spread(30);
  const many = await spread(300);
  // Ten times as many bells. A list for each bell or a search for each bell in all of them would take a hundred times as long.
  expect(many).toBeLessThan(80 * Math.max(few, 2));
  const names = `[...document.querySelectorAll('postern-inbox')].map(({ shadowRoot }) => shadowRoot.querySelector('.bell').getAttribute('aria-label'))`;
  expect(await page.evaluate(`[...new Set(${names})]`)).toEqual(['Notifications, 11 unread']);
  const count = (path: string) => requests.filter((own) => own === `/v1/notifications/${path}`).length;
  expect([count('stream'), count('page')]).toEqual([1, 1]);
  // At first, after each publication, and by a timer meanwhile; not once for each bell.
  expect(count('marker')).toBeLessThan(30);
  await page.evaluate("document.querySelectorAll('postern-inbox').forEach((bell) => bell.remove())");
  await expect.poll(() => openStreams).toBe(0);
  await expectNoErrorsOrSidewaysScroll();
  await context.close();
});

test('a module that is loaded again, with a client of its own, leaves the elements of the page as they are', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'The first');
  const context = await pages.browser.newContext();
  const streams: string[] = [];
  context.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/stream')) streams.push(request.url());
  });
  const { page, until, expectNoErrorsOrSidewaysScroll } = await inboxOf(user, {
    context,
    attributes: { layout: 'list' },
  });
  const shown = (text: string) =>
    `[...document.querySelectorAll('postern-inbox')].every(({ shadowRoot }) => shadowRoot.textContent.includes('${text}'))`;
  await until(shown('The first'));
  await page.evaluate('Object.assign(window, { first: { show, postern } })');
  await page.evaluate("import('/again/page.js')");
  expect(await page.evaluate('show === first.show')).toBe(false);
  await page.evaluate(
    `show(${JSON.stringify({ url: pages.app.url, tag: 'postern-inbox', attributes: { layout: 'list' } })})`,
  );
  expect(await page.evaluate('[postern === first.postern, postern.current.status]')).toEqual([false, 'signed_in']);
  await publish(user, 'The second');
  expect(await page.evaluate("document.querySelectorAll('postern-inbox').length")).toBe(2);
  await until(shown('The second'));
  expect(streams.length).toBe(1);
  // The clients of one page follow each other, as those of two tabs do.
  await page.evaluate('postern.logOut()');
  await until("first.postern.current.status === 'signed_out'");
  await until(`!${shown('The second')}`);
  await expectNoErrorsOrSidewaysScroll();
  await context.close();
});

test('if the code of the rows cannot be loaded, the list says so, and shows them later', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'Before');
  const context = await pages.browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  let isBlocked = true;
  await context.route('**/list.js', (route) => (isBlocked ? route.abort() : route.continue()));
  const { page, events } = await inboxOf(user, { attributes: { layout: 'list' }, context });
  await page.getByText('Loading failed.').waitFor();
  expect(await events('error')).toMatchObject([{ kind: 'network' }]);
  expect(await page.evaluate('element.matches(":state(unread)")')).toBe(true);
  isBlocked = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Before').waitFor();
  expect(await page.evaluate('element.matches(":state(unread)")')).toBe(true);
  await context.close();
});

test('if nobody is signed in, the list shows that, and shows the inbox after a login', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'For you');
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await pages.show('postern-inbox', {
    attributes: { layout: 'list' },
  });
  await page.getByText('Sign in to see your notifications.').waitFor();
  await expectAccessible();
  await page.evaluate(
    `client.createLogin(postern).start().password(${JSON.stringify({ identity: user.username, password })})`,
  );
  await page.getByText('For you').waitFor();
  await page.evaluate('postern.logOut()');
  await page.getByText('Sign in to see your notifications.').waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('an item that is opened does not read older ones, and the read position follows when no older one is unread', async () => {
  const user = await createUser(pages.app);
  for (const number of [1, 2, 3]) await publish(user, `Number ${number}`);
  const { page, until } = await inboxOf(user, { attributes: { layout: 'list' } });
  const unread = () => page.locator('[part~=item-unread]').count();
  const position = () =>
    page
      .evaluate<{ unread_count: number }>('client.createInbox(postern).marker()')
      .then((marker) => marker.unread_count);
  await page.getByText('Number 2').click();
  await expect.poll(unread).toBe(2);
  expect(await position()).toBe(3);
  await page.getByText('Number 1').click();
  await expect.poll(unread).toBe(1);
  await expect.poll(position).toBe(1);
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await until('!element.matches(":state(unread)")');
});

test('rows with an address are links, other protocols are refused, and a middle click opens another tab', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'A bill');
  await publish(user, 'An attack', { notification_type: 'request' });
  const { page, events, expectAccessible } = await inboxOf(user, { attributes: { open: '' } });
  await page.evaluate(
    `element.hrefOf = ({ notification_type }) => notification_type === 'payment' ? '/bills/1' : 'javascript:alert(1)'`,
  );
  const link = page.getByRole('link', { name: /A bill/ });
  await link.waitFor();
  expect(await page.getByRole('link').count()).toBe(1);
  await expectAccessible();
  const opened = page.context().waitForEvent('page');
  await link.click({ button: 'middle' });
  expect((await opened).url()).toContain('/bills/1');
  expect(await events('select')).toMatchObject([{ description: 'A bill' }]);
  await page.evaluate(`element.open = true`);
  await link.click();
  await page.waitForURL(`${pages.origin}/bills/1`);
});

test('the push settings list every type, also one that is not on the first page', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'The oldest', { notification_type: 'pool' });
  for (const number of [1, 2]) await publish(user, `Number ${number}`);
  const { page } = await inboxOf(user, { attributes: { open: '', limit: '1' } });
  await page.getByRole('button', { name: 'Push settings' }).click();
  await page.getByRole('switch', { name: 'pool' }).waitFor();
  expect(await page.getByRole('switch').count()).toBe(2);
});

test('push settings that cannot be loaded say so, and are loaded by "Try again"', async () => {
  const user = await createUser(pages.app);
  await publish(user, 'Paid your share');
  const { page, events } = await inboxOf(user, { attributes: { layout: 'list' } });
  let isBroken = true;
  await page.route('**/v1/notifications/mutes**', (route) =>
    isBroken ? route.fulfill({ status: 500 }) : route.continue(),
  );
  await page.getByRole('button', { name: 'Push settings' }).click();
  await page.getByText('The settings could not be loaded.').waitFor();
  expect(await page.getByText('The change was not saved.').count()).toBe(0);
  expect(await events('error')).not.toEqual([]);
  isBroken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('switch', { name: 'Payment' }).waitFor();
});
