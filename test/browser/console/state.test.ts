import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { OutboxMessage } from '../../../src/contract/administration.js';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsole } from '../../support/console.js';
import { eventually } from '../../support/eventually.js';
import { type MailServer, startMailServer } from '../../support/mail-server.js';
import { testSql } from '../../support/sql.js';
import { createUser, emailLogin, login, messageOf, newEmail, passwordLogin } from '../../support/users.js';

let mail: MailServer;
let postern: TestApp;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** Errors of the page, and what its content security policy has refused. */
let faults: string[];
let hostile: User;

beforeAll(async () => {
  mail = await startMailServer();
  postern = await startTestApp(
    {
      ...{ SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=none`, MAIL_FROM: 'no-reply@postern.example' },
      ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off', NOTICES: 'none' },
    },
    { statisticsInterval: 50 },
  );
  browser = await launchBrowser();
  hostile = await createUser(postern, { name: '<b>Bobby</b> \u202etables' });
  await login(postern, hostile);
  await postern.api('POST', '/v1/tokens', { body: passwordLogin(hostile.username, 'wrong') });
});
afterAll(async () => {
  await browser.close();
  await postern.close();
  await mail.close();
});

const consoleOf = createConsole(() => postern);

async function signInAs(role: 'operator' | 'support', width = 1280): Promise<void> {
  const { browser: signedIn } = await consoleOf.operator(role);
  context = await browser.newContext({ viewport: { width, height: 900 }, acceptDownloads: true });
  const cookies = [...signedIn.cookies].map(([name, value]) => ({
    name,
    value,
    domain: '127.0.0.1',
    path: '/',
  }));
  await context.addCookies(cookies);
  page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
}

beforeEach(() => {
  faults = [];
});

const open = (path: string) => page.goto(`${postern.url}/console${path}`);
const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

describe('an operator', () => {
  beforeAll(() => signInAs('operator'));
  afterAll(() => context.close());

  test('sees the figures of a time span, why logins were refused, and opens the events of a cause', async () => {
    await open('/');
    await heading('Overview');
    const causes = page.getByRole('region', { name: 'Reasons for refusals' });
    await causes.getByRole('link', { name: 'Wrong secret' }).waitFor();
    await page.getByRole('radio', { name: '1 h' }).check();
    expect(new URL(page.url()).searchParams.get('span')).toBe('1h');
    await page.getByRole('region', { name: 'Sign-ins' }).getByRole('button', { name: 'As a table' }).click();
    await page.getByRole('table', { name: /^Sign-ins over time/ }).waitFor();
    await causes.getByRole('link', { name: 'Wrong secret' }).click();
    await heading('Audit');
    await page.getByRole('row', { name: /Bobby.* was refused/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('sees why a message has failed, and sends it again', async () => {
    const user = await createUser(postern, { email: newEmail() });
    mail.refuse({ status: 550, at: 'RCPT' });
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
    await messageOf(postern, body.id, ['failed']);
    await open('/messages');
    await heading('Messages');
    const row = page.getByRole('row', { name: new RegExp(user.email ?? '') });
    await row.getByText('the mail server answered 550').first().waitFor();
    await row.getByRole('button', { name: 'Retry' }).first().click();
    const sent = await messageOf(postern, body.id);
    expect(sent.attempts).toBe(2);
    expect(mail.received.filter(({ to }) => to.includes(user.email ?? ''))).toHaveLength(1);
    await page.getByText('The message is queued again.').waitFor();
    expect(faults).toEqual([]);
  });

  test.each([
    ['its code has expired', "expires_at = db_now() - interval '1 second'"],
    ['it was tried too often', 'attempts = 20'],
  ])('is not offered to send a message again if %s', async (_, change) => {
    const user = await createUser(postern, { email: newEmail() });
    mail.refuse({ status: 550, at: 'RCPT' });
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
    const { id } = await messageOf(postern, body.id, ['failed']);
    await postern.database.query(testSql(`update outbox set ${change} where id = $1`, [id]));
    await open('/messages');
    const row = page.getByRole('row', { name: new RegExp(user.email ?? '') });
    await row.getByText('the mail server answered 550').first().waitFor();
    expect(await row.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    await open(`/users/${user.id}`);
    const messages = page.getByRole('region', { name: 'Messages to the user' });
    await messages.getByText('Failed').first().waitFor();
    expect(await messages.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    await postern.database.query(testSql('delete from outbox where id = $1', [id]));
    expect(faults).toEqual([]);
  });

  test('sees a login with an authenticator app as a login, not as a request for a code', async () => {
    await open('/audit?type=login.started');
    await heading('Audit');
    await page
      .getByRole('row', { name: /began to sign in/ })
      .first()
      .waitFor();
    expect(await page.getByText('asked for a code').count()).toBe(0);
  });

  test('sees which messages arrived, which did not, and why not', async () => {
    const [there, lost] = [
      await createUser(postern, { email: newEmail() }),
      await createUser(postern, { email: newEmail() }),
    ];
    const reports = [
      [there, 'delivered', null],
      [lost, 'undelivered', 'Twilio 30005: the number does not exist'],
    ] as const;
    for (const [user, state, reason] of reports) {
      const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
      const { id } = await messageOf(postern, body.id);
      // As Postern stores the report of a provider about the message.
      await postern.database.query(
        testSql('update outbox set state = $2, last_error = $3 where id = $1', [id, state, reason]),
      );
    }
    await open('/messages');
    const failed = page.getByRole('row', { name: new RegExp(lost.email ?? '') });
    await failed.getByText('Did not arrive').first().waitFor();
    await failed.getByText('Twilio 30005').first().waitFor();
    await failed.getByRole('button', { name: 'Retry' }).first().waitFor();
    await failed.click();
    await page.getByRole('definition').filter({ hasText: 'Twilio 30005: the number does not exist' }).waitFor();
    await page.getByRole('radio', { name: 'Sent', exact: true }).check();
    const arrived = page.getByRole('row', { name: new RegExp(there.email ?? '') });
    await arrived.getByText('Arrived').first().waitFor();
    expect(await arrived.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    await open(`/users/${lost.id}`);
    const messages = page.getByRole('region', { name: 'Messages to the user' });
    await messages.getByText('did not arrive', { exact: true }).waitFor();
    await messages.getByText('Twilio 30005: the number does not exist').waitFor();
    expect(faults).toEqual([]);
  });

  test('filters the audit, opens an event without following further ones, and exports what matches', async () => {
    await open(`/audit?user=${hostile.id}`);
    const row = page.getByRole('row', { name: /Bobby.* signed in/ });
    await row.waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await row.click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByText('login.approved', { exact: true }).waitFor();
    expect(await page.locator('b', { hasText: 'Bobby' }).count()).toBe(0);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'As NDJSON' }).click();
    const text = readFileSync(await (await downloading).path(), 'utf8');
    const exported = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; user_id: string });
    expect(exported.map(({ type }) => type).sort()).toEqual(['login.approved', 'login.rejected', 'user.created']);
    expect(new Set(exported.map(({ user_id }) => user_id))).toEqual(new Set([hostile.id]));
    expect(faults).toEqual([]);
  });

  test('follows new events until a row is open', async () => {
    const user = await createUser(postern);
    await open(`/audit?user=${user.id}`);
    await page.getByRole('row', { name: /ADMIN_API_KEY created/ }).waitFor();
    await login(postern, user);
    await page.getByRole('row', { name: /signed in/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('sees the processes, the database and the settings, and no secret', async () => {
    await open('/system');
    await heading('System');
    await page.getByRole('table', { name: 'Processes' }).getByText('running').waitFor();
    const settings = page.getByRole('region', { name: 'Settings' });
    for (const summary of await settings.locator('summary').all()) await summary.click();
    await settings.getByText('SECRET_KEY', { exact: true }).waitFor();
    const text = await page.locator('body').innerText();
    expect(text).not.toContain(postern.adminKey);
    expect(faults).toEqual([]);
  });
});

test('these pages fit a phone, without scrolling sideways', async () => {
  await signInAs('operator', 390);
  for (const [path, name] of [
    ['/', 'Overview'],
    ['/messages?state=all', 'Messages'],
    ['/audit', 'Audit'],
    ['/system', 'System'],
  ] as const) {
    await open(path);
    await heading(name);
    await page.locator('main').getByText('Loading…').first().waitFor({ state: 'detached' });
    const tooWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
    expect([path, tooWide]).toEqual([path, false]);
  }
  expect(faults).toEqual([]);
  await context.close();
});

test('support sees statistics and messages, and neither the audit nor the system', async () => {
  await signInAs('support');
  await open('/');
  await page.getByRole('region', { name: 'Reasons for refusals' }).getByText('Wrong secret').waitFor();
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await eventually('the links of support', async () => ((await links.count()) > 1 ? true : undefined));
  const names = await links.allInnerTexts();
  expect(names.some((name) => name.includes('Messages'))).toBe(true);
  expect(names.filter((name) => /Audit|System/.test(name))).toEqual([]);
  const { body } = await postern.api<OutboxMessage[]>('GET', '/admin/v1/outbox', { bearer: postern.adminKey });
  expect(body.every(({ state }) => state !== 'failed')).toBe(true);
  expect(faults).toEqual([]);
  await context.close();
});

test('the sign-in asks for no PIN, because PIN_POLICY is off', async () => {
  const signedOut = await browser.newContext();
  onTestFinished(() => signedOut.close());
  const signIn = await signedOut.newPage();
  await signIn.goto(`${postern.url}/console`);
  await signIn.getByRole('switch', { name: 'Show the password' }).waitFor();
  expect(await signIn.getByRole('switch', { name: 'I have a PIN' }).count()).toBe(0);
});
