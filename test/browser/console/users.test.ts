import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { createUser, passwordLogin } from '../../support/users.js';

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
const getUser = async (id: string) => (await admin<User>('GET', `/users/${id}`)).body;
const row = (page: Page, name: string) => page.getByRole('row', { name, exact: true });

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in the %s theme at %i px', (theme, width) => {
  test('the list shows hostile names as text, and has no finding of axe-core and no report', async () => {
    const hostile = ['<img src=x onerror=alert(1)>', '\u202etxet', '"><svg onload=alert(1)>{{7*7}}', 'W'.repeat(255)];
    for (const name of hostile) await createUser(postern, { name });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/users', {
      as: await operator(),
      theme,
      width,
    });
    for (const name of hostile) await page.locator('bdi:visible').getByText(name, { exact: true }).first().waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });
});

test('an operator invites a person, from the page and from the palette', async () => {
  const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/users', {
    as: await operator(),
  });
  await page.getByRole('button', { name: 'Invite…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite a person to administer Postern' });
  await expectAccessible();
  await dialog.getByLabel('Role').selectOption('operator');
  await dialog.getByRole('button', { name: 'Create the link' }).click();
  const link = await dialog.locator('code').innerText();
  const described = await postern.api('POST', '/console/setup/link', {
    body: { secret: link.split('#')[1] },
    headers: { origin: postern.url },
  });
  expect(described).toMatchObject({ status: 200, body: { role: 'operator' } });
  await dialog.getByRole('button', { name: 'I have copied the link' }).click();
  expect(new URL(page.url()).search).toBe('');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('invite');
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('support staff cannot invite', async () => {
  const { page } = await open('/console/users', { as: await operator('support') });
  await page.getByRole('button', { name: 'Create user' }).waitFor();
  expect(await page.getByRole('button', { name: 'Invite…' }).count()).toBe(0);
});

describe('the list of users', () => {
  test('finds a user by a part of the name, keeps the search in the URL, and explains an empty list', async () => {
    const name = `Grace ${randomUUID()}`;
    await createUser(postern, { name });
    await createUser(postern, { name: 'Somebody else' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users', { as: await operator() });
    await row(page, 'Somebody else').waitFor();
    await page.getByRole('searchbox').fill(name.slice(3).toUpperCase());
    await row(page, 'Somebody else').waitFor({ state: 'detached' });
    await row(page, name).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe(name.slice(3).toUpperCase());
    await page.getByRole('searchbox').fill('nobody at all');
    await page.getByText('Nobody matches').waitFor();
    await page.getByRole('button', { name: 'Clear search and filters' }).click();
    await row(page, 'Somebody else').click();
    await page.getByRole('heading', { level: 1, name: 'Somebody else' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('finds a user by the exact external id, and shows it', async () => {
    const own = `K-${randomUUID()}`;
    const user = await createUser(postern, { name: `Mary ${randomUUID()}`, external_id: own });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users', { as: await operator() });
    await page.getByRole('searchbox').fill(`external:${own}`);
    await page.getByText('1 user', { exact: true }).waitFor();
    await row(page, user.name ?? '').click();
    await page.waitForURL(`**/users/${user.id}`);
    await page.getByRole('definition').filter({ hasText: own }).waitFor();
    await page.goto(`${postern.url}/console/users?q=external:${own}-2`);
    await page.getByText('Nobody matches').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('says in Spanish what the search finds', async () => {
    const { page } = await open('/console/users', { as: await operator(), language: 'es' });
    await page.getByPlaceholder('id externo', { exact: false }).waitFor();
  });

  test('filters by the URL, and reads on while it is scrolled', async () => {
    const family = `Page ${randomUUID()}`;
    await postern.database.query(
      testSql(
        `insert into users (id, name, status, created_at, updated_at)
         select gen_random_uuid(), $1 || ' ' || lpad(n::text, 3, '0'),
                case when n <= 120 then 'deactivated' else 'active' end, now() - n * interval '1 minute', now()
         from generate_series(1, 130) n`,
        [family],
      ),
    );
    const query = new URLSearchParams({ q: family, status: 'deactivated' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users?${query}`, { as: await operator() });
    await row(page, `${family} 001`).waitFor();
    await page.getByText('120 users').waitFor();
    for (const next of ['051', '101', '120']) {
      await page.mouse.wheel(0, 100_000);
      await row(page, `${family} ${next}`).waitFor({ state: 'attached' });
    }
    expect(await row(page, `${family} 121`).count()).toBe(0);
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('many users at once', () => {
  test('are locked after a question, with the effect in the API and a file of the results', async () => {
    const family = `Lock ${randomUUID()}`;
    const users = await Promise.all(['a', 'b', 'c'].map((name) => createUser(postern, { name: `${family} ${name}` })));
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(`/console/users?q=${family}`, {
      as: await operator(),
    });
    await row(page, `${family} a`).waitFor();
    await page.getByLabel('Select all rows shown').check({ force: true });
    await page.getByRole('button', { name: 'Lock…', exact: true }).click();
    await page.getByText('Lock 3 users?').waitFor();
    await expectAccessible();
    await page.getByLabel('Reason').fill('Stolen');
    await page.getByRole('dialog').getByRole('button', { name: 'Lock', exact: true }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Result file' }).click();
    expect((await saved).suggestedFilename()).toBe('lock.ndjson');
    for (const { id } of users) {
      expect((await getUser(id)).lock).toEqual({ permanent: true, until: null, reason: 'Stolen' });
    }
    await page.getByText('Locked without an end').first().waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('say exactly what was done if the connection is lost, and which results are unknown', async () => {
    const family = `Lost ${randomUUID()}`;
    const users = await Promise.all(['a', 'b', 'c'].map((name) => createUser(postern, { name: `${family} ${name}` })));
    const { page } = await open(`/console/users?q=${family}`, { as: await operator() });
    await row(page, `${family} a`).waitFor();
    await page.getByLabel('Select all rows shown').check({ force: true });
    await page.getByRole('button', { name: 'Sign out…', exact: true }).click();
    await page.route('**/admin/v1/users/bulk', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('Some users were not processed: 0 done, 3 unknown.').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Result file' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\n');
    const named = lines.map((line) => JSON.parse(line) as { id: string; result: string });
    expect(named.map(({ id }) => id).sort()).toEqual(users.map(({ id }) => id).sort());
    expect(new Set(named.map(({ result }) => result))).toEqual(new Set(['unknown']));
  });

  test('say so if the service ends the action early', async () => {
    const family = `Early ${randomUUID()}`;
    const user = await createUser(postern, { name: family });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users?q=${family}`, { as: await operator() });
    await row(page, family).waitFor();
    await page.getByLabel('Select all rows shown').check({ force: true });
    await page.getByRole('button', { name: 'Sign out…', exact: true }).click();
    const ending = { summary: { done: 1, unchanged: 0, failed: 0, valid: 0, complete: false }, status: 503 };
    const body = [
      { id: user.id, result: 'done' },
      { ...ending, code: 'storage_unavailable' },
    ];
    await page.route('**/admin/v1/users/bulk', (route) =>
      route.fulfill({
        contentType: 'application/x-ndjson',
        body: body.map((line) => `${JSON.stringify(line)}\n`).join(''),
      }),
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('The service ended the action early (storage_unavailable): 1 done.').waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('are deleted only after their number was typed', async () => {
    const family = `Delete ${randomUUID()}`;
    const users = await Promise.all(['a', 'b'].map((name) => createUser(postern, { name: `${family} ${name}` })));
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users?q=${family}`, { as: await operator() });
    await row(page, `${family} a`).waitFor();
    await page.getByLabel('Select all rows shown').check({ force: true });
    await page.getByRole('button', { name: 'Delete…' }).click();
    const action = page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true });
    expect(await action.isDisabled()).toBe(true);
    await page.getByLabel('Type 2 to confirm').fill('2');
    await action.click();
    await page.getByText('2 done').waitFor();
    await page.getByText('Nobody matches').waitFor();
    for (const { id } of users) expect((await admin('GET', `/users/${id}`)).status).toBe(404);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('are all that match, if the operator says so', async () => {
    const family = `All ${randomUUID()}`;
    await postern.database.query(
      testSql(
        `insert into users (id, username, name, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), $1, now() - n * interval '1 minute', now() from generate_series(1, 130) n`,
        [family],
      ),
    );
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users?q=${family}`, { as: await operator() });
    await row(page, family).first().waitFor();
    await page.getByLabel('Select all rows shown').check({ force: true });
    await page.getByRole('button', { name: 'Select all that match' }).click();
    await page.getByRole('button', { name: 'Deactivate…' }).click();
    await page.getByLabel('Type Deactivate to confirm').fill('Deactivate');
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate', exact: true }).click();
    await page.getByText('130 done').waitFor();
    const rows = await postern.database.query(
      testSql(`select 1 as one from users where name = $1 and status = 'deactivated'`, [family]),
    );
    expect(rows.length).toBe(130);
    await expectNoErrorsOrSidewaysScroll();
  });
});

test('a user is created in a dialog, and errors stand at their fields', async () => {
  const taken = await createUser(postern);
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users', { as: await operator() });
  await page.getByRole('button', { name: 'Create user' }).click();
  await page.getByLabel('Username', { exact: true }).fill(taken.username ?? '');
  const submit = page.getByRole('dialog').getByRole('button', { name: 'Create user' });
  await submit.click();
  await page.getByText('Another user has this value.').waitFor();
  const username = `made.${randomUUID().slice(0, 8)}`;
  await page.getByLabel('Username', { exact: true }).fill(username);
  await page.getByLabel('With a password for one sign-in').check();
  await submit.click();
  await page.getByText(`${username} was created`).waitFor();
  const shown = await page.getByRole('dialog').locator('code').innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  const created = await eventually('the user exists', async () => {
    const { body } = await admin<User[]>('GET', `/users?filter=username:${username}`);
    return body[0];
  });
  expect(created.has_password).toBe(true);
  const { body: started } = await postern.api('POST', '/v1/tokens', { body: passwordLogin(username, shown) });
  expect(started).toMatchObject({ status: 'pending', challenge: { type: 'new_password' } });
  await expectNoErrorsOrSidewaysScroll();
});
