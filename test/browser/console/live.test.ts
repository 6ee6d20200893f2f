import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { testSql } from '../../support/sql.js';
import { createUser, login } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
let signedInOperator: Awaited<ReturnType<typeof operator>>;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  browser = await launchBrowser();
  signedInOperator = await operator();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);

/** The streams and the reads of lists of audit events. */
function watchEvents(page: Page) {
  const seen = { opened: 0, ended: 0, reads: 0 };
  const isStream = (url: string) => url.includes('/events/stream');
  page.on('request', (request) => {
    if (isStream(request.url())) seen.opened += 1;
    if (request.url().includes('/events/page')) seen.reads += 1;
  });
  const end = (request: Request) => {
    if (isStream(request.url())) seen.ended += 1;
  };
  page.on('requestfailed', end);
  page.on('requestfinished', end);
  return seen;
}
const streamOf = (page: Page) => page.waitForResponse((response) => response.url().includes('/events/stream'));
const row = (page: Page, name: RegExp) => page.getByRole('row', { name });

describe('the audit page', () => {
  test('shows new events of its filter by one stream, and reads no list for them', async () => {
    const [user, other] = [await createUser(postern), await createUser(postern)];
    const { page, settled, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: signedInOperator });
    const seen = watchEvents(page);
    const streamed = streamOf(page);
    await page.goto(`${postern.url}/console/audit?user=${user.id}`);
    await row(page, /ADMIN_API_KEY created/).waitFor();
    await streamed;
    await settled();
    const { reads } = seen;
    for (let count = 0; count < 3; count += 1) await login(postern, user);
    await login(postern, other);
    await expect.poll(() => row(page, /signed in/).count()).toBe(3);
    await page.getByText('4 events', { exact: true }).waitFor();
    expect({ ...seen }).toEqual({ opened: 1, ended: 0, reads });
    await expectNoErrorsOrSidewaysScroll();
  });

  test('counts new events while a row is open, and adds them when asked, and when the row is closed', async () => {
    const user = await createUser(postern);
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
      as: signedInOperator,
    });
    const streamed = streamOf(page);
    await page.goto(`${postern.url}/console/audit?user=${user.id}`);
    await streamed;
    await row(page, /ADMIN_API_KEY created/).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await login(postern, user);
    const newer = page.getByRole('button', { name: '1 newer event' });
    await newer.waitFor();
    expect(await row(page, /signed in/).count()).toBe(0);
    await expectAccessible();
    await newer.click();
    await row(page, /signed in/).waitFor();
    await newer.waitFor({ state: 'detached' });
    await login(postern, user);
    await newer.waitFor();
    await row(page, /ADMIN_API_KEY created/).click();
    await expect.poll(() => row(page, /signed in/).count()).toBe(2);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('keeps the rows in their place after scrolling, and a button shows the new events', async () => {
    const user = await createUser(postern);
    const values = `$1, gen_random_uuid(), 'user.logged_out', 'cli', db_now() - n * interval '1 second'`;
    const insert = `insert into events (user_id, id, type, actor, created_at) select ${values} from generate_series(1, 120) n`;
    await postern.database.query(testSql(insert, [user.id]));
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: signedInOperator });
    const streamed = streamOf(page);
    await page.goto(`${postern.url}/console/audit?user=${user.id}`);
    await streamed;
    await row(page, /Command line signed out everywhere/)
      .first()
      .waitFor();
    await page.mouse.move(600, 400);
    await page.mouse.wheel(0, 1500);
    await page.getByText('Paused', { exact: true }).waitFor();
    const before = await page.evaluate<number>('scrollY');
    await login(postern, user);
    const newer = page.getByRole('button', { name: '1 newer event' });
    await newer.waitFor();
    expect(await page.evaluate<number>('scrollY')).toBe(before);
    await newer.click();
    await row(page, /signed in/).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('reads its list again when the stream says that events may be missing', async () => {
    const user = await createUser(postern);
    const { page, settled } = await open('/console/parts', { as: signedInOperator });
    const seen = watchEvents(page);
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let streams = 0;
    await page.route('**/events/stream*', async (route) => {
      streams += 1;
      if (streams > 1) return route.continue();
      await begun;
      return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 50\n\nevent: reset\ndata: {}\n\n' });
    });
    await page.goto(`${postern.url}/console/audit?user=${user.id}`);
    await row(page, /ADMIN_API_KEY created/).waitFor();
    await settled();
    const { reads } = seen;
    begin();
    await expect.poll(() => seen.opened).toBe(2);
    await settled();
    expect(seen.reads).toBeGreaterThan(reads);
    await login(postern, user);
    await row(page, /signed in/).waitFor();
  });
});

describe('the overview', () => {
  test('shows new events by one stream, and counts them while somebody pauses', async () => {
    const { page, settled, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: signedInOperator });
    const seen = watchEvents(page);
    const streamed = streamOf(page);
    await page.getByRole('link', { name: 'Overview' }).click();
    await streamed;
    await settled();
    const now = page.getByRole('region', { name: 'Now' });
    const { reads } = seen;
    await createUser(postern, { name: 'Grace Hopper' });
    await now.getByText('Grace Hopper').waitFor();
    await now.getByRole('button', { name: 'Pause' }).click();
    await createUser(postern, { name: 'Ada Lovelace' });
    await now.getByRole('button', { name: '1 newer event' }).click();
    await now.getByText('Ada Lovelace').waitFor();
    expect({ ...seen }).toEqual({ opened: 1, ended: 0, reads });
    await page.getByRole('link', { name: 'Users' }).click();
    await expect.poll(() => seen.ended).toBe(1);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('ends its stream when it is hidden for a minute, and continues when it is visible again', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: signedInOperator });
    const seen = watchEvents(page);
    await page.clock.install();
    const streamed = streamOf(page);
    await page.getByRole('link', { name: 'Overview' }).click();
    await streamed;
    const hide = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await hide(true);
    await page.clock.runFor(61_000);
    await expect.poll(() => seen.ended).toBe(1);
    await createUser(postern, { name: 'Edsger Dijkstra' });
    await hide(false);
    await page.getByRole('region', { name: 'Now' }).getByText('Edsger Dijkstra').waitFor();
    await expect.poll(() => seen.opened).toBe(2);
    await expectNoErrorsOrSidewaysScroll();
  });
});
