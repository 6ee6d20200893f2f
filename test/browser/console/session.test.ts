import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createUser, password } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  // Sessions are short, so that each test sees some end.
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', SESSION_TTL: '12s' });
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

const isRenewal = (request: Request) => request.method() === 'POST' && request.url().endsWith('/console/session');
const note = (page: Page) => page.getByLabel('Note');
const ended = (page: Page) => page.getByRole('dialog', { name: 'Your session ended' });

describe('a session', () => {
  test('is renewed before it ends, without a refused request', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator() });
    const renewals: string[] = [];
    const refused: string[] = [];
    page.on('request', (request) => void (isRenewal(request) && renewals.push(request.url())));
    page.on('response', (response) => void (response.status() === 401 && refused.push(response.url())));
    await eventually('two renewals', async () => (renewals.length >= 2 ? true : undefined));
    expect(refused).toEqual([]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('that was ended on the server asks for a sign-in, keeps what was typed, and continues', async () => {
    const signedInOperator = await operator();
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/parts', {
      as: signedInOperator,
    });
    await note(page).fill('half a sentence');
    await admin('POST', `/users/${signedInOperator.session.user_id}/logout`);
    await ended(page).waitFor();
    await expectAccessible();
    // Esc does not close the dialog, because the page cannot continue without a login.
    await page.keyboard.press('Escape');
    await ended(page).waitFor();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await signedInOperator.app.rewind();
    await page.getByLabel('6-digit code').fill(await signedInOperator.app.code());
    await ended(page).waitFor({ state: 'detached' });
    expect(await note(page).inputValue()).toBe('half a sentence');
    await page.reload();
    expect(await note(page).inputValue()).toBe('half a sentence');
    await expectNoErrorsOrSidewaysScroll();
  });

  test('is not renewed while nobody uses the page, and nothing of the page stays; the next input opens it again', async () => {
    const user = await createUser(postern, { name: 'Someone Private' });
    const person = await operator();
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/users/${user.id}`, { as: person });
    await page.getByRole('heading', { name: 'Someone Private' }).waitFor();
    // The last input was two minutes ago.
    await page.evaluate('{ const now = performance.now.bind(performance); performance.now = () => now() + 120_000; }');
    const renewals: string[] = [];
    page.on('request', (request) => void (isRenewal(request) && renewals.push(request.url())));
    const away = page.getByText('Nobody has used this page for a while.', { exact: false });
    await away.waitFor();
    expect(renewals).toEqual([]);
    const shown = () => page.evaluate<string>('document.title + document.documentElement.outerHTML');
    expect(await shown()).not.toContain('Someone Private');
    await page.keyboard.press('Shift');
    await page.getByRole('heading', { name: 'Someone Private' }).waitFor();
    expect(renewals).toHaveLength(1);
    await admin('POST', `/users/${person.session.user_id}/logout`);
    await page.keyboard.press('Shift');
    await ended(page).waitFor();
    expect(await shown()).not.toContain('Someone Private');
    await expectNoErrorsOrSidewaysScroll();
  });

  test('of a locked operator says why it ended', async () => {
    const signedInOperator = await operator();
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: signedInOperator });
    await admin('POST', `/users/${signedInOperator.session.user_id}/lock`, { permanent: true });
    await ended(page).getByText('The account is locked.').waitFor();
    await ended(page).getByRole('button', { name: 'Sign in as someone else' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('of another operator starts with a new page and without the drafts', async () => {
    const [first, second] = [await operator(), await operator('support')];
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: first });
    await note(page).fill('mine');
    await admin('POST', `/users/${first.session.user_id}/logout`);
    await ended(page).waitFor();
    await ended(page).getByRole('button', { name: 'Sign in as someone else' }).click();
    await page.getByLabel('Mail address, username or phone').fill(second.username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.app.rewind();
    await page.getByLabel('6-digit code').fill(await second.app.code());
    await page.getByRole('heading', { name: 'Components and states', level: 1 }).waitFor();
    expect(await note(page).inputValue()).toBe('');
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('without a connection', () => {
  test('the page keeps what it shows, buttons that change something wait, and it reads again afterwards', async () => {
    const { page, context, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator() });
    await page.getByText('was created').first().waitFor();
    await context.setOffline(true);
    await page.getByText('No connection since').waitFor();
    await page.getByText('was created').first().waitFor();
    const { name } = await createUser(postern, { name: 'Somebody New' });
    await context.setOffline(false);
    await page.getByText('No connection since').waitFor({ state: 'detached' });
    await page.getByText(name).first().waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('a button that changes something says why it waits', async () => {
    const { page, context, settled, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', {
      as: await operator(),
    });
    const button = page.getByRole('button', { name: 'Lock…' }).first();
    await expect.poll(() => button.isEnabled()).toBe(true);
    // A response that arrives later would show the connection as restored.
    await settled();
    await context.setOffline(true);
    await page.getByText('Waiting for the connection').first().waitFor();
    expect(await button.isDisabled()).toBe(true);
    await context.setOffline(false);
    await page.getByText('Waiting for the connection').first().waitFor({ state: 'detached' });
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('a service that is slow or fails', () => {
  test('shows placeholders until the first response arrives', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: await operator() });
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/admin/v1/events/**', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'attached' });
    release?.();
    await page.getByText('was created').first().waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('shows the problem with the id of the request, and reads again by itself', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/parts', { as: await operator() });
    const problem = {
      ...{ type: 'about:blank', title: 'Unavailable', status: 503, request_id: '5f0d7a52-0000-4000-8000-0000007f1f3e' },
      errors: [{ code: 'unavailable', message: 'The database did not answer.' }],
    };
    let failures = 2;
    await page.route('**/admin/v1/events/**', async (route) => {
      failures -= 1;
      if (failures < 0) await route.continue();
      else await route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) });
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('The events could not be read. The database did not answer.').waitFor();
    await page.getByRole('button', { name: 'Copy Request 5f0d7a52' }).waitFor();
    await page.getByText('was created').first().waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });
});
