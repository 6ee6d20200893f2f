import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupState } from '../../../src/contract/operation/backups.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';

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

const { open, operator } = createConsolePages(
  () => postern,
  () => browser,
);

const backup = (day: number, more: Partial<BackupState['backups'][number]> = {}): BackupState['backups'][number] => ({
  id: `00000000-0000-4000-8000-00000000000${day}`,
  started_at: `2026-11-2${day}T03:00:00Z`,
  finished_at: `2026-11-2${day}T03:00:20Z`,
  verified_at: `2026-11-2${day}T03:01:00Z`,
  ...{ is_scheduled: true, bytes: 1_234_567_890, error: null },
  location: `/mnt/backups/postern-7412345678901234567-2026112${day}T030000Z.tar`,
  ...more,
});
const state: BackupState = {
  ...{ now: '2026-11-23T12:00:00Z', place: '/mnt/backups', schedule: '24h', keep: 7, is_encrypted: true },
  ...{ next_at: '2026-11-24T03:00:00Z', is_running: false, method: 'files', problem: null },
  archive: {
    location: '/mnt/backups',
    ...{ started_at: '2026-11-20T00:00:00Z', archived_at: '2026-11-23T11:59:30Z', error: null },
  },
  backups: [
    backup(3, { finished_at: null, verified_at: null, bytes: null, error: 'no space left on device' }),
    backup(2, { verified_at: null, is_scheduled: false }),
    backup(1),
  ],
};

test('without backups the page says what to do', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/backups', { as: await operator() });
  await page.getByText('No backup yet').waitFor();
  expect(await page.getByText(/Set BACKUP_TO to a folder/).isVisible()).toBe(true);
  expect(await page.getByRole('button', { name: 'Back up now' }).count()).toBe(0);
  await expectNoErrorsOrSidewaysScroll();
});

test('backups are listed with their state, can be started and verified, and restored by a command', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/backups', { as: await operator() });
  const sent: string[] = [];
  await page.route(/\/admin\/v1\/backups/, async (route) => {
    const call = route.request();
    if (call.method() === 'GET') return route.fulfill({ json: state });
    sent.push(new URL(call.url()).pathname);
    return route.fulfill({ status: 202, json: state });
  });
  await page.reload();
  await page.getByText('The last backup failed: no space left on device').waitFor();
  const lastVerified = page.locator('dl > div', { hasText: 'Last verified backup' }).locator('time');
  expect(await lastVerified.getAttribute('datetime')).toBe(state.backups[2]?.started_at);
  for (const word of ['Failed', 'Not verified', 'Verified']) {
    expect(await page.getByText(word, { exact: true }).count()).toBe(1);
  }
  // The time of day is shown also for another day.
  expect(await page.locator('time[datetime="2026-11-24T03:00:00Z"]').textContent()).toMatch(/24 Nov 2026.*\d\d:00$/);
  expect(await page.getByText('every 24h').count()).toBe(1);
  expect(await page.getByText(`postern backup restore ${state.backups[2]?.location} --to data-restored`).count()).toBe(
    1,
  );
  await page.getByRole('button', { name: 'Back up now' }).click();
  await page.getByText('The backup has begun.').waitFor();
  await page
    .getByRole('button', { name: /^Verify the backup/ })
    .first()
    .focus();
  await page.keyboard.press('Enter');
  await page.getByText('The verification has begun.').waitFor();
  expect(sent).toEqual(['/admin/v1/backups', `/admin/v1/backups/${state.backups[1]?.id}/verify`]);
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
      expect(violations).toEqual([]);
      const { SHOTS } = process.env;
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${width}-${colorScheme}.png`, fullPage: true });
    }
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }
  await expectNoErrorsOrSidewaysScroll();
});

test('with DATABASE_URL, the page says how to restore into a database, and why pg_dump cannot run', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/backups', { as: await operator() });
  const problem = 'pg_dump has version 14, which is too old for PostgreSQL 15';
  const dumped: BackupState = { ...state, method: 'pg_dump', archive: null, problem };
  await page.route(/\/admin\/v1\/backups/, (route) => route.fulfill({ json: dumped }));
  await page.reload();
  await page.getByText(problem).waitFor();
  expect(await page.getByText(/Create an empty database/).isVisible()).toBe(true);
  expect(await page.getByText('Database log archived until').count()).toBe(0);
  await expectNoErrorsOrSidewaysScroll();
});
