import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Statistics } from '../../../src/contract/operation/statistics.js';
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

test('the system shows each of several servers, and which one does not answer', async () => {
  const version = '15.14 (Debian 15.14-0+deb12u1)';
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console', {
    as: await operator(),
    width: 390,
  });
  await page.route(/\/admin\/v1\/system$/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as System;
    const { bytes, connections, max_connections, tables } = answer.database;
    const state = { version, bytes, connections, max_connections, tables, answers: true, pending_migrations: 0 };
    const none = { version: null, bytes: null, connections: null, max_connections: null, tables: [] };
    const servers: System['servers'] = [
      { ...state, name: 'main', users: 12, buckets: 1367, moves_to_complete: 0 },
      { ...state, name: 'east', users: 1200, buckets: 1365, moves_to_complete: 3, pending_migrations: 2 },
      {
        ...{ ...none, name: 'west', answers: false, users: null, buckets: 1364 },
        ...{ moves_to_complete: 0, pending_migrations: null },
      },
    ];
    await route.fulfill({ response, json: { ...answer, servers } });
  });
  await page.route(/\/admin\/v1\/stats\?metric=database\.size/, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as Statistics;
    const valuesOf = (first: number) => answer.buckets.map((_, day) => (first + day) * 1_048_576);
    const labels = [
      { label: 'main', total: 0, values: valuesOf(40) },
      { label: 'east', total: 0, values: valuesOf(1200) },
      { label: 'west', total: 0, values: valuesOf(9) },
    ];
    const metrics = answer.metrics.map((metric) => ({ ...metric, labels }));
    await route.fulfill({ response, json: { ...answer, metrics } });
  });
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${postern.url}/console/system`);
    await page.getByRole('heading', { name: 'Database servers' }).waitFor();
    await page.getByText('one does not answer: its users get 503').waitFor();
    const rows = page.getByRole('table', { name: 'Database servers' }).locator('tbody tr');
    expect(await rows.locator('th').allTextContents()).toEqual(['main', 'east', 'west']);
    expect(await rows.nth(1).textContent()).toMatch(/1,200.*\(3 moving here\).*2 pending.*15\.14$/);
    expect(await rows.nth(1).getByTitle(version).count()).toBe(1);
    expect(await rows.nth(2).textContent()).toContain('does not answer');
    const growth = page.getByRole('group', { name: 'Size of each server over 30 days' });
    expect(await growth.locator('strong').allTextContents()).toEqual(
      ['main', 'east', 'west'].map((server) => `Size of ${server} by day in MiB`),
    );
    expect(await scrolledGroups(page)).toEqual([]);
    await expectAccessible();
  }
  await page.getByRole('heading', { name: 'Database of main' }).waitFor();
  await page.locator('summary', { hasText: 'Largest tables of east' }).click();
  await page.getByRole('table', { name: 'Largest tables of east' }).waitFor();
  await expectNoErrorsOrSidewaysScroll();
});
