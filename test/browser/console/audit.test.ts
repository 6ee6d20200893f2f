import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

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

async function exportAs(page: Page, kind: 'As CSV' | 'As NDJSON'): Promise<string> {
  const downloading = page.waitForEvent('download', { timeout: 120_000 });
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: kind }).click();
  return readFileSync(await (await downloading).path(), 'utf8');
}

describe('the audit page', () => {
  test('shows the values before and after a change, who made it, and no value of a secret', async () => {
    const user = await createUser(postern, { name: 'Ada <b>Byron</b>' });
    await signIn(postern, user);
    await postern.api('PATCH', `/admin/v1/users/${user.id}`, {
      ...{
        bearer: postern.adminKey,
        body: { name: 'Ada Lovelace', locale: 'es', password: 'another battery of horses' },
      },
    });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(`/console/audit?user=${user.id}`, {
      as: await operator(),
    });
    const changed = page.getByRole('row', { name: 'ADMIN_API_KEY changed Ada Lovelace' });
    await changed.waitFor();
    expect(await changed.innerText()).toContain('API key');
    const signedIn = await page.getByRole('row', { name: /signed in/ }).innerText();
    expect(signedIn.match(/Byron/g)).toHaveLength(1);

    await changed.click();
    const changes = page.getByRole('table', { name: 'Changes' });
    await changes.waitFor();
    const shown = (await changes.getByRole('row').allInnerTexts()).map((line) => line.replaceAll(/\s+/g, ' ').trim());
    expect(shown).toEqual([
      'Field Before After',
      'Name Ada <b>Byron</b> Ada Lovelace',
      expect.stringMatching(/^Language .* es$/),
    ]);
    await page.getByRole('row', { name: /set a new password/ }).click();
    await page.getByText('changed; the values are not stored').waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('says in words who did what to whom, and shows the members of a value', async () => {
    const user = await createUser(postern, { name: 'Grace Hopper' });
    const signedInOperator = await operator();
    const lock = { permanent: true, reason: 'Fraud' };
    const call = (method: string, path: string, body?: object) =>
      postern.api(method, path, { bearer: signedInOperator.session.token, ...(body && { body }) });
    await call('POST', `/admin/v1/users/${user.id}/lock`, lock);
    const key = await call('POST', '/admin/v1/keys', { name: 'ledger', scopes: ['users:read'] });
    await call('DELETE', `/admin/v1/keys/${String(key.body.id)}`);
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/audit', {
      as: signedInOperator,
    });
    await page.getByRole('row', { name: 'Ada Lovelace revoked an API key ledger' }).waitFor();
    await page.getByRole('row', { name: 'Ada Lovelace locked Grace Hopper' }).click();
    const change = page.getByRole('table', { name: 'Changes' }).getByRole('row', { name: /^Lock/ });
    const shown = await change.getByRole('listitem').allInnerTexts();
    expect(shown.sort()).toEqual([
      expect.stringMatching(/^Permanent:\s*yes$/),
      'Reason: Fraud',
      expect.stringMatching(/^Until:/),
    ]);
    await expectAccessible();
    await page.getByRole('link', { name: 'Only events about Grace Hopper' }).click();
    await page.getByRole('row', { name: /created Grace Hopper/ }).waitFor();
    expect(await page.getByRole('row', { name: /ledger/ }).count()).toBe(0);
    await page.getByRole('row', { name: 'Ada Lovelace locked Grace Hopper' }).click();
    await page.getByRole('link', { name: 'Only events by Ada Lovelace' }).click();
    await page.getByRole('row', { name: 'Ada Lovelace revoked an API key ledger' }).waitFor();
    expect(await page.getByRole('row', { name: /created Grace Hopper/ }).count()).toBe(0);
    await page.getByRole('row', { name: 'Ada Lovelace locked Grace Hopper' }).click();
    await page.getByRole('link', { name: 'Grace Hopper', exact: true }).click();
    await page.waitForURL(`**/users/${user.id}`);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('exports all events that match, also more than 10,000, and stops when it is cancelled', async () => {
    const [actor, count] = ['cli', 10_050];
    await postern.database.query(
      testSql(
        `insert into events (user_id, id, type, actor, created_at)
         select gen_random_uuid(), gen_random_uuid(), 'user.logged_out', $1, db_now() - n * interval '1 second'
         from generate_series(1, $2::int) n`,
        [actor, count],
      ),
    );
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/audit?actor=${actor}&live=off`, {
      as: await operator(),
    });
    await page
      .getByRole('row', { name: /Command line signed out everywhere/ })
      .first()
      .waitFor();
    const lines = (await exportAs(page, 'As NDJSON')).trim().split('\n');
    const ids = new Set(lines.map((line) => (JSON.parse(line) as Event).id));
    expect([lines.length, ids.size]).toEqual([count, count]);
    await page.getByText('10,050 events exported.').waitFor();

    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'As CSV' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(/^Reading events/).waitFor({ state: 'detached' });
    expect(await page.getByText('The events were not exported.').count()).toBe(0);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('exports names and changes as CSV', async () => {
    const user = await createUser(postern, { name: '=Ada' });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/audit?user=${user.id}`, {
      as: await operator(),
    });
    await page.getByRole('row', { name: /ADMIN_API_KEY created/ }).waitFor();
    const [head, line = ''] = (await exportAs(page, 'As CSV')).trim().split('\r\n');
    expect(head).toBe('created_at,type,user_id,user_name,actor,actor_name,address,request_id,id,changes,data');
    expect(line).toContain(`,user.created,${user.id},'=Ada,key:environment,,`);
    expect(line).toContain('""field"":""name""');
    await expectNoErrorsOrSidewaysScroll();
  });
});
