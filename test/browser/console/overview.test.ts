import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { System } from '../../../src/contract/operation/system.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { testSql } from '../../support/sql.js';

let postern: TestApp;
let browser: Browser;
let signedInOperator: Awaited<ReturnType<typeof operator>>;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  browser = await launchBrowser();
  signedInOperator = await operator();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const system = /\/admin\/v1\/system$/;
const figures = { name: 'Session checks' };

describe('the warnings of the overview', () => {
  test('say what the doctor has found, the worst first, and lead to the system', async () => {
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
      as: signedInOperator,
      width: 390,
    });
    await page.route(system, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as System;
      const findings: System['findings'] = [
        { level: 'ok', what: 'clock', detail: 'in step' },
        { level: 'warn', what: 'backups', detail: 'the last one is old' },
        { level: 'fail', what: 'disk', detail: `full ${'W'.repeat(200)}` },
      ];
      await route.fulfill({ response, json: { ...answer, findings } });
    });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await warnings.getByText(/^disk: full W/).waitFor();
    await expectAccessible();
    await warnings.getByRole('link', { name: '2 system checks need attention.' }).click();
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    await page.getByText('the last one is old').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('count webhooks that fail in a line of their own, which leads to the webhooks', async () => {
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
      as: signedInOperator,
      width: 390,
    });
    await page.route(system, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as System;
      const findings: System['findings'] = [
        { level: 'warn', what: 'webhooks', detail: 'the one at one.example is disabled: gone' },
        { level: 'warn', what: 'webhooks', detail: 'the one at two.example is disabled: failing' },
        { level: 'ok', what: 'clock', detail: 'in step' },
      ];
      await route.fulfill({ response, json: { ...answer, findings } });
    });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await warnings.getByText('the one at one.example is disabled: gone').waitFor();
    await warnings.getByText('All other checks passed.').waitFor();
    await expectAccessible();
    await warnings.getByRole('link', { name: '2 webhooks fail or were disabled.' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('name each disk that is nearly full in a line of its own, which leads to the system', async () => {
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
      as: signedInOperator,
      width: 390,
    });
    const [data, backups] = [
      '0.50 of 20.00 GB are free for the data (DATA_DIR)',
      '1.00 of 20.00 GB are free for backups',
    ];
    await page.route(system, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as System;
      const findings: System['findings'] = [data, backups].map((detail) => ({ level: 'warn', what: 'disk', detail }));
      await route.fulfill({ response, json: { ...answer, findings } });
    });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await warnings.getByText(data).waitFor();
    await warnings.getByText(backups).waitFor();
    await warnings.getByText('All other checks passed.').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible();
    }
    await warnings.getByRole('link', { name: 'A disk is nearly full.' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('do not say that all is well while the service cannot use its database', async () => {
    // What the doctor finds depends on the machine. Support does not see it.
    const { page, expectAccessible } = await open('/console', { as: await operator('support') });
    await page.getByText('Nothing needs your attention now.').waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    const problem = { title: 'Service Unavailable', errors: [{ code: 'storage_unavailable', message: 'No storage.' }] };
    const api = /\/(?:admin\/)?v1\//;
    await page.route(api, (route) => route.fulfill({ status: 503, json: problem }));
    await page.getByText('Database unavailable', { exact: true }).waitFor();
    await page.getByText(/^Postern has not been able to use its database since/).waitFor();
    expect(await page.getByText('Nothing needs your attention now.').count()).toBe(0);
    expect(await page.getByText('Connected', { exact: true }).count()).toBe(0);
    await page.getByText('The system checks could not be read.').waitFor();
    await expectAccessible();
    await page.unroute(api);
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByText('Nothing needs your attention now.').waitFor();
  });

  test('show times of the service as local times', async () => {
    const { page } = await open('/console/parts', { as: signedInOperator });
    const since = '2026-01-02T03:04:05.678901Z';
    await page.route(system, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as System;
      const findings: System['findings'] = [
        { level: 'fail', what: 'webhooks', detail: `https://example.com fails since ${since}` },
        { level: 'warn', what: 'backups', detail: `the last one was made at ${since}` },
      ];
      const providers: System['providers'] = [
        {
          channel: 'sms',
          name: 'twilio',
          has_receipts: false,
          failing_since: since,
          last_error: `refused at ${since}`,
        },
      ];
      await route.fulfill({ response, json: { ...answer, findings, providers } });
    });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await warnings.getByText(/the last one was made at/).waitFor();
    await page.getByText(figures.name).waitFor();
    expect(await page.getByRole('main').innerText()).not.toContain('678901');
    const titles = await page.evaluate<string[]>(
      "[...document.querySelectorAll('main [title]:not(time)')].map((element) => element.title)",
    );
    expect(titles.filter((title) => title.includes('refused at'))).not.toEqual([]);
    expect(titles.filter((title) => title.includes('678901'))).toEqual([]);
  });

  test('say that the doctor has not answered, and the overview does not wait', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: signedInOperator });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(system, async (route) => {
      await answered;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('The system is being checked.').waitFor();
    await page.getByText(figures.name).waitFor();
    answer();
    await page.getByText('The system is being checked.').waitFor({ state: 'detached' });
    await expectNoErrorsOrSidewaysScroll();
  });

  test('name the provider that fails, and those that work, in a line that exists before the answer of the service', async () => {
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
      as: signedInOperator,
      width: 390,
      theme: 'dark',
    });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(system, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as System;
      const vonage = {
        channel: 'sms' as const,
        name: 'vonage',
        has_receipts: true,
        failing_since: null,
        last_error: null,
      };
      const twilio = { ...vonage, name: 'twilio', failing_since: '2026-11-01T10:00:00Z', last_error: 'twilio: no' };
      const mail = { ...twilio, channel: 'email' as const, name: 'smtp', last_error: 'the mail server answered 535' };
      const push = { ...vonage, channel: 'push' as const, name: 'web_push' };
      await answered;
      await route.fulfill({ response, json: { ...body, providers: [twilio, vonage, mail, push] } });
    });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const line = page.getByRole('region', { name: 'Providers:' });
    await line.waitFor();
    const before = await line.boundingBox();
    answer();
    await line.getByText(/SMS \(twilio\) has failed since/).waitFor();
    await line.getByText('SMS (vonage) works').waitFor();
    await line.getByText(/Mail \(smtp\) has failed since/).waitFor();
    await line.getByText('Web Push works').waitFor();
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await warnings.getByText('Mail (smtp) is failing.').waitFor();
    await warnings.getByText('the mail server answered 535').waitFor();
    expect((await line.boundingBox())?.height).toBe(before?.height);
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('are read by support without the doctor, which the API would refuse', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: await operator('support') });
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('Nothing needs your attention now.').waitFor();
    await page.getByText(figures.name).waitFor();
    expect(requested.filter((url) => system.test(url))).toEqual([]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('name messages that failed in words, and a channel that fails often', async () => {
    const { body: user } = await admin('POST', '/users', { phone: '+15551230001' });
    const columns =
      'id, user_id, channel, kind, recipient, state, attempts, last_error, expires_at, created_at, updated_at';
    const values = `gen_random_uuid(), $1, 'sms', 'sms.code', '+15551230001', 'failed', 3, 'unreachable', ${Array(3).fill('db_now()').join(', ')}`;
    await postern.database.query(testSql(`insert into outbox (${columns}) values (${values})`, [user.id]));
    const counted = `select resolution, date_trunc(resolution, db_now(), 'UTC'), metric, 'sms', value
      from unnest(array['minute', 'hour', 'day']) resolution, (values ('messages.sent', 6), ('messages.failed', 4)) of (metric, value)`;
    await postern.database.query(
      testSql(`insert into statistics (resolution, starts_at, metric, label, value) ${counted}`, []),
    );
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: signedInOperator });
    await page.getByText('One message failed in the last 24 hours.').waitFor();
    await page.getByText('The last one: Code by SMS, unreachable.').waitFor();
    await page.getByRole('status').filter({ hasText: '4 of 10 failed in this time span.' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });
});
