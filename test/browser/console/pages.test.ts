import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';

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

/** Each page, and a text that it shows once it has its data. */
const pages = [
  ['/console', 'was created'],
  ['/console/parts', 'Locked until 15:48'],
  ['/console/no-such-page', 'The address may be mistyped'],
] as const;
const variants = (['light', 'dark'] as const).flatMap((theme) =>
  ([1280, 390] as const).map((width) => ({ theme, width })),
);

describe.each(variants)('at $width px in the $theme theme', (variant) => {
  test.each(pages)('%s has no finding of axe-core, no report and no sideways scrolling', async (path, text) => {
    const { page, isClean, isAccessible } = await open(path, { as: await operator(), ...variant });
    await page.getByText(text).first().waitFor();
    await isAccessible();
    await isClean();
  });

  test('the sign-in page is in Spanish for a Spanish browser, without findings', async () => {
    const { page, isClean, isAccessible } = await open('/console', { ...variant, language: 'es' });
    await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
    await isAccessible();
    await isClean();
  });
});

describe('values of users', () => {
  const hostile = [
    '<img src=x onerror="document.title=1"><script>document.title=2</script>',
    'ليلى عبد الرحمن المنصوري',
    '"><svg onload=alert(1)>{{7*7}}',
    'W'.repeat(255),
    "Robert'); DROP TABLE users;--",
  ];

  test.each([1280, 390] as const)('are shown as text and break nothing at %i px', async (width) => {
    for (const name of hostile) await createUser(postern, { name });
    const { page, isClean, isAccessible } = await open('/console/users', { as: await operator(), width });
    for (const name of hostile) await page.getByRole('row', { name, exact: true }).first().waitFor();
    expect(await page.title()).toBe('Users · Postern');
    expect(await page.locator('main img').count()).toBe(0);
    await isAccessible();
    await isClean();
  });
});

test('a support agent sees no events, which the API would refuse', async () => {
  const { page, isClean } = await open('/console', { as: await operator('support') });
  const refused: string[] = [];
  page.on('response', (response) => void (response.status() === 403 && refused.push(response.url())));
  await page.getByText('Nothing needs your attention now.').waitFor();
  expect(await page.getByRole('heading', { name: 'Now' }).count()).toBe(0);
  expect(refused).toEqual([]);
  await isClean();
});

test('the filters of a list are in the address', async () => {
  const { page, isClean } = await open('/console/parts?state=locked', { as: await operator() });
  const rows = page.getByRole('table', { name: 'A list' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('button', { name: 'Remove the filter State' }).click();
  await expect.poll(() => rows.count()).toBe(5);
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('searchbox').fill('bobby');
  await expect.poll(() => new URL(page.url()).search).toBe('?q=bobby');
  await expect.poll(() => rows.count()).toBe(2);
  await isClean();
});

test('the overview warns of messages that failed', async () => {
  const { body: user } = await admin('POST', '/users', { phone: '+15551230001' });
  const columns =
    'id, user_id, channel, kind, recipient, state, attempts, last_error, expires_at, created_at, updated_at';
  const values = `gen_random_uuid(), $1, 'sms', 'sms.code', '+15551230001', 'failed', 3, 'unreachable', ${Array(3).fill('db_now()').join(', ')}`;
  await postern.database.everyone.query(testSql(`insert into outbox (${columns}) values (${values})`, [user.id]));
  const { page, isClean } = await open('/console', { as: await operator() });
  await page.getByText('One message failed in the last 24 hours.').waitFor();
  await isClean();
});
