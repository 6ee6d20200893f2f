import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { System } from '../../../src/contract/operation/system.js';
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

/** The names of the tables that are wider than their panels. */
const scrolledGroups = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('[role=group]')].filter((group) => group.scrollWidth > group.clientWidth)
    .map((group) => group.getAttribute('aria-label'))`);

test('the system shows findings with local times and links to their pages, and fits on a phone', async () => {
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console', {
    as: await operator(),
    width: 390,
  });
  await page.route(/\/admin\/v1\/system$/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as System;
    const findings: System['findings'] = [
      { level: 'warn', what: 'webhooks', detail: 'the one at example.com fails since 2026-11-21T09:30:14.565586Z' },
      { level: 'ok', what: 'clock', detail: 'in step' },
    ];
    const queue = { ...answer.queue, due: 12, oldest_seconds: 90, retrying: 3 };
    await route.fulfill({ response, json: { ...answer, findings, queue } });
  });
  await page.goto(`${postern.url}/console/system`);
  const finding = page.getByRole('listitem').filter({ hasText: 'the one at example.com fails since' });
  const time = finding.locator('time');
  expect(await time.getAttribute('title')).toBe('2026-11-21 09:30:14.565586 UTC');
  expect(await time.textContent()).toMatch(/^2[01] Nov 2026, \d\d:\d\d$/);
  await page.getByText('Queue: jobs that are due: 12, the oldest for 1 minute.').waitFor();
  await page.getByText('Jobs that wait for another attempt: 3.').waitFor();
  await page.getByRole('table', { name: 'Largest tables' }).waitFor();
  expect(await scrolledGroups(page)).toEqual([]);
  await expectAccessible();
  await finding.getByRole('link', { name: 'webhooks' }).click();
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await expectNoErrorsOrSidewaysScroll();
});
