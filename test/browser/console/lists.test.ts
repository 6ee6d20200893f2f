import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { createTestNotifications, input, publishAll } from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
const family = `Row ${randomUUID()}`;
const address = `/console/users?${new URLSearchParams({ q: family })}`;
/** More than the list keeps in the page, and more than two of its pages. */
const all = 150;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  browser = await launchBrowser();
  await postern.database.query(
    testSql(
      `insert into users (id, username, name, created_at, updated_at)
       select gen_random_uuid(), gen_random_uuid(), $1 || ' ' || lpad(n::text, 3, '0'), now() - n * interval '1 minute', now()
       from generate_series(1, $2) n`,
      [family, all],
    ),
  );
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const row = (page: Page, number: number) =>
  page.getByRole('row', { name: `${family} ${String(number).padStart(3, '0')}`, exact: true });

/** Scrolls down until the row is in the page. */
async function scrollTo(page: Page, number: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 3000);
        return row(page, number).count();
      },
      { timeout: 30_000 },
    )
    .toBe(1);
}
const rowsInPage = (page: Page) => page.locator('tbody tr[data-index]').count();

test.each([1280, 390] as const)(
  'a long list has only the rows near the screen in the page, and says how many there are, at %i px',
  async (width) => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open(address, { as: await operator(), width });
    await row(page, 1).waitFor();
    await page.mouse.move(width / 2, 400);
    await scrollTo(page, all);
    expect(await rowsInPage(page)).toBeLessThan(100);
    expect(await row(page, 1).count()).toBe(0);
    expect(await row(page, all).getAttribute('aria-rowindex')).toBe(String(all + 1));
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(all + 1));
    await expectNoErrorsOrSidewaysScroll();
  },
);

test('going back from a user returns to the same row, with the selection', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open(address, { as: await operator() });
  await row(page, 1).waitFor();
  await page.mouse.move(600, 400);
  await scrollTo(page, 130);
  await row(page, 128).press('x');
  await row(page, 130).scrollIntoViewIfNeeded();
  const before = await page.evaluate<number>('scrollY');
  await row(page, 130).press('Enter');
  await page.getByRole('heading', { level: 1, name: `${family} 130` }).waitFor();
  await page.goBack();
  await expect.poll(() => page.evaluate<number>('Math.round(scrollY)')).toBe(Math.round(before));
  expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe(`${family} 130`);
  await page.getByRole('status').filter({ hasText: '1 selected' }).waitFor();
  expect(await row(page, 128).getAttribute('aria-selected')).toBe('true');
  await expectNoErrorsOrSidewaysScroll();
});

test('the keyboard moves through all rows, and loads more rows at the end', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open(address, { as: await operator() });
  await row(page, 1).press('End');
  const focused = () => page.evaluate<string>('document.activeElement.ariaLabel ?? ""');
  await expect.poll(focused).toBe(`${family} 050`);
  await row(page, 51).waitFor({ state: 'attached' });
  await page.keyboard.press('j');
  await expect.poll(focused).toBe(`${family} 051`);
  await page.keyboard.press('Home');
  await expect.poll(focused).toBe(`${family} 001`);
  await expectNoErrorsOrSidewaysScroll();
});

test('a page that could not be read shows an error below the rows, and is read again', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open(address, { as: await operator() });
  await row(page, 1).waitFor();
  const failing = '**/admin/v1/users/find';
  await page.route(failing, (route) =>
    route.request().postData()?.includes('cursor') === true
      ? route.fulfill({ status: 500, body: 'broken' })
      : route.fallback(),
  );
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, 3000);
  await page.getByText('More rows could not be read.').waitFor();
  expect(await row(page, 50).count()).toBe(1);
  await page.unroute(failing);
  await page.getByRole('button', { name: 'Try now' }).click();
  await row(page, 51).waitFor({ state: 'attached' });
  await expectNoErrorsOrSidewaysScroll();
});

test('the inbox of a user loads more rows in its own scroll area, with only the visible rows and their neighbours in the page', async () => {
  const user = await createUser(postern);
  const inputs = Array.from({ length: all }, (_, index) => input(user.id, { description: `Number ${index + 1}` }));
  await publishAll({ database: postern.database, notifications: createTestNotifications(postern.database) }, inputs);
  const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users/${user.id}`, { as: await operator() });
  const list = page.getByRole('list', { name: 'Inbox' });
  const newest = list.getByText(`Number ${all}`, { exact: true });
  await newest.waitFor();
  const oldest = list.getByText('Number 1', { exact: true });
  await expect
    .poll(
      async () => {
        // What arrives above the list moves it.
        await list.hover();
        await page.mouse.wheel(0, 3000);
        return oldest.count();
      },
      { timeout: 30_000 },
    )
    .toBe(1);
  expect(await list.getByRole('listitem').count()).toBeLessThan(60);
  expect(await newest.count()).toBe(0);
  await oldest.click();
  await page.getByRole('heading', { name: 'Delivery' }).waitFor();
  await expectNoErrorsOrSidewaysScroll();
});
