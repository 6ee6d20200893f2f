import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { type ConsolePage, createConsolePages, heights } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { type MailServer, startMailServer } from '../../support/mail-server.js';
import { createUser, emailLogin, login, messageOf, newEmail, passwordLogin, signIn } from '../../support/users.js';

/** Markup, the other direction, characters without width, and one word that is longer than any line. */
const hostile = [
  '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  '\u202eright to left ليلى عبد الرحمن',
  '\u200bzero\u200b\ufeffwidth\u2066',
  'W'.repeat(255),
];
/** A text that is longer than most maximum lengths. Cut it for fields with a shorter one. */
const endless = 'Wolfeschlegelstein'.repeat(556).slice(0, 10_000);

let mail: MailServer;
let postern: TestApp;
let browser: Browser;
let signedInOperator: Awaited<ReturnType<typeof operator>>;
let pages: readonly (readonly [path: string, shown: RegExp])[];

beforeAll(async () => {
  mail = await startMailServer();
  postern = await startTestApp(
    {
      ...{ SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=none`, MAIL_FROM: 'no-reply@postern.example' },
      ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off', NOTICES: 'none' },
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    },
    { statisticsInterval: 50 },
  );
  browser = await launchBrowser();
  signedInOperator = await operator();
  // Nothing answers there.
  const target = { url: `http://127.0.0.1:9/${hostile[3]}`, events: ['user.created'], description: hostile[3] };
  const { body: webhook } = await admin<{ id: string }>('POST', '/webhooks', target);
  const users = await Promise.all(hostile.map((name) => createUser(postern, { name })));
  const [first] = users as [User, ...User[]];
  await signIn(postern, first, { make: hostile[0], model: hostile[3], gcm_device_token: 'a token' });
  for (const user of users) await login(postern, user, { make: hostile[1], model: hostile[2] });
  await postern.api('POST', '/v1/tokens', { body: passwordLogin(first.username, 'wrong') });
  await admin('POST', `/users/${first.id}/lock`, { reason: hostile[0] });
  await admin('POST', '/keys', { name: hostile[0], scopes: ['users:read'] });
  await admin('POST', '/keys', { name: hostile[3]?.slice(0, 100), scopes: ['admin'] });
  const categoryTexts = { title: { en: hostile[0], es: hostile[0] }, description: { en: hostile[1] } };
  await admin('PUT', '/categories/hostile', { ...categoryTexts, templates: { 'push.en': { text: hostile[3] } } });
  await admin('POST', '/suppressions', { email: newEmail() });
  await admin('PUT', '/topics/hostile', { title: hostile[0], is_open: true });
  await admin('PUT', '/topics/endless', { title: hostile[3] });
  await admin('PUT', `/topics/hostile/subscriptions/${first.id}`);
  const { body: publication } = await admin<{ id: string }>('POST', '/publications', {
    ...{ to: { topic: 'hostile' }, send_at: new Date(Date.now() + 86_400_000).toISOString() },
    notification: { notification_type: 'payment', actor: hostile[1], description: hostile[0] },
  });
  await admin('POST', '/blocks', { address: '192.0.2.0/24', reason: hostile[0] });
  await admin('POST', '/blocks', { address: '2001:db8::/32', reason: hostile[3] });
  const notification = { user_id: first.id, notification_type: 'payment', description: endless.slice(0, 4096) };
  const { body: published } = await admin<{ id: string }>('POST', '/notifications', {
    ...notification,
    actor: hostile[0],
  });
  const refused = await createUser(postern, { email: newEmail(), name: hostile[1] });
  mail.refuse({ status: 550, at: 'RCPT' });
  const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(refused.email) });
  await messageOf(postern, body.id, ['failed']);
  const delivery = await eventually('a delivery', async () => {
    const list = await admin<{ id: string; attempts: number }[]>('GET', `/webhooks/${webhook.id}/deliveries`);
    return list.body.find(({ attempts }) => attempts > 0);
  });
  pages = [
    ['/console', /was created|fue creado/],
    [`/console/users?q=${endless.slice(0, 200)}`, /Nobody matches|Nadie coincide/],
    ['/console/users', /WWWWWWWW/],
    ['/console/users/import', /CSV/],
    [`/console/users/${first.id}`, /WWWWWWWW/],
    [`/console/notifications?to=${first.id}`, /onerror/],
    [`/console/notifications?view=find&id=${published.id}`, /Wolfeschlegelstein/],
    ['/console/messages', /the mail server answered 550/],
    [`/console/messages?recipient=${endless.slice(0, 5000)}`, /./],
    ['/console/publications', /onerror/],
    ['/console/publications/new?topic=hostile', /Recipients a second|Destinatarios por segundo/],
    [`/console/publications/${publication.id}`, /onerror/],
    [`/console/publications/${publication.id}?view=edit`, /hostile/],
    ['/console/topics', /WWWWWWWW/],
    ['/console/topics/hostile', /WWWWWWWW|onerror/],
    ['/console/categories', /onerror/],
    ['/console/categories/hostile', /onerror/],
    ['/console/suppressions', /added by an operator|la añadió un operador/],
    ['/console/audit', /onerror/],
    ['/console/providers', /OIDC_PROVIDERS/],
    ['/console/keys', /onerror/],
    ['/console/audiences', /audience|audiencia/],
    ['/console/access', /onerror/],
    [`/console/webhooks/${webhook.id}?open=${delivery.id}`, /webhook-id/],
    ['/console/backups', /BACKUP_TO/],
    ['/console/system', /PostgreSQL/],
    // The page that shows all components with their states, with fixed example data.
    ['/console/parts', /Locked until 15:48/],
    [`/console/${endless}`, /mistyped|mal escrita/],
  ];
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  await mail?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const untilArrived = ({ page }: ConsolePage, shown: RegExp) =>
  page.locator('main').getByText(shown).filter({ visible: true }).first().waitFor();
const name = (path: string) => path.slice(0, 60);

/** Visits all pages in one browser window. */
async function visit(
  opened: ConsolePage,
  each: (path: string) => Promise<void>,
  which: (path: string) => boolean = () => true,
): Promise<void> {
  for (const [path, shown] of pages.filter(([path]) => which(path))) {
    await opened.page.goto(`${postern.url}${path}`);
    await untilArrived(opened, shown).catch((error: unknown) => {
      throw new Error(`${name(path)} does not show ${shown}`, { cause: error });
    });
    await opened.settled();
    await each(path);
  }
}

/** axe-core takes seconds for each of many pages. */
const checkingAll = 300_000;

test('every page has no finding of axe-core in both themes and sizes, and shows hostile values as text', {
  timeout: checkingAll,
}, async () => {
  const opened = await open('/console', { as: signedInOperator });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = opened;
  await visit(opened, async (path) => {
    for (const width of [1280, 390] as const) {
      await page.setViewportSize({ width, height: heights[width] });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        // Another theme changes the colours only.
        await expectAccessible(colorScheme === 'dark' ? ['color-contrast'] : undefined).catch((error: unknown) => {
          throw new Error(`${name(path)} at ${width} px, ${colorScheme}`, { cause: error });
        });
      }
      await expectNoErrorsOrSidewaysScroll();
    }
    expect(await page.locator('main img[src=x], main script').count()).toBe(0);
    expect(await page.title()).not.toMatch(/^[12]$/);
  });
});

test('every page is in Spanish for a Spanish browser, without a finding of axe-core, and fits a phone', {
  timeout: checkingAll,
}, async () => {
  const opened = await open('/console', { as: signedInOperator, language: 'es', width: 390 });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = opened;
  await visit(opened, async (path) => {
    expect([name(path), await page.locator('html').getAttribute('lang')]).toEqual([name(path), 'es']);
    await expectAccessible().catch((error: unknown) => {
      throw new Error(name(path), { cause: error });
    });
    await expectNoErrorsOrSidewaysScroll();
  });
});

test('every page fits a screen of 1280 px at a zoom of 200 %, nothing moves with reduced motion, and ids have a button that copies them', async () => {
  // `open` asks the browser for reduced motion.
  const opened = await open('/console', { as: signedInOperator });
  const { page, expectNoErrorsOrSidewaysScroll } = opened;
  const row = page.locator('tbody tr[data-index]').first();
  await page.setViewportSize({ width: 640, height: 400 });
  await visit(opened, async (path) => {
    await expectNoErrorsOrSidewaysScroll();
    const outside = await page.evaluate<string[]>(cutOff);
    expect([name(path), outside]).toEqual([name(path), []]);
    const moving = () =>
      page.evaluate<number>(
        `document.getAnimations().filter((one) => one.playState === 'running' && one.effect.getComputedTiming().duration > 1).length`,
      );
    // By now everything that appears with a delay has appeared. Only something that moves without end would still move.
    await expect.poll(moving, { message: name(path) }).toBe(0);
    if (['/console/audit', '/console/messages', '/console/keys', '/console/access'].includes(path))
      await row.press('Enter');
    const bare = await page.evaluate<string[]>(idsWithoutButton);
    expect([name(path), bare]).toEqual([name(path), []]);
  });
});

/** Buttons, links and fields that no scrolling brings onto the screen. */
const cutOff = `[...document.querySelectorAll('main :is(a, button, input, select, textarea)')]
  .filter((element) => {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('[popover], .hidden-text')) return false;
    const { left, right, width } = element.getBoundingClientRect();
    if (width <= 1 || (left >= -1 && right <= innerWidth + 1)) return false;
    for (let box = element.parentElement; box !== null; box = box.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) return false;
    return true;
  })
  .map((element) => element.outerHTML.slice(0, 120))`;

/** Visible ids that are in no button and no field, and have no button beside them. */
const idsWithoutButton = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (!/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.test(node.data)) continue;
    const { parentElement: parent } = node;
    if (!parent.checkVisibility() || parent.closest('button, textarea, pre') !== null) continue;
    if (parent.parentElement.querySelector('button') === null) found.push(node.data);
  }
  return found;
})()`;

test.each([
  ['/console/users', /Export/, undefined],
  ['/console/messages?state=all', /^Export$/, 'As CSV'],
  ['/console/messages?state=all', /^Export$/, 'As NDJSON'],
  ['/console/audit', /^Export$/, 'As NDJSON'],
  ['/console/keys', /^Export$/, 'As CSV'],
  ['/console/webhooks', /^Export$/, 'As NDJSON'],
] as const)('the list at %s can be exported', async (path, button, item) => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open(path, { as: signedInOperator });
  await page.locator('tbody tr[data-index]').first().waitFor();
  const rows = await page.locator('tbody tr[data-index]').count();
  await page.locator('main').getByRole('button', { name: button }).first().click();
  const downloading = page.waitForEvent('download');
  if (item !== undefined) await page.getByRole('menuitem', { name: item }).click();
  // An export of users asks first.
  else await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const file = await (await downloading).createReadStream();
  const text = (await file.toArray()).join('');
  const lines = text.split(/\r?\n/).filter((line) => line !== '').length;
  expect(lines).toBeGreaterThanOrEqual(rows);
  await expectNoErrorsOrSidewaysScroll();
});

test('the draft of a user survives a reload', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/users', { as: signedInOperator });
  const create = page.getByRole('button', { name: 'Create user' });
  await create.click();
  await page.getByLabel('Username', { exact: true }).fill('half.written');
  await page.reload();
  await create.click();
  expect(await page.getByLabel('Username', { exact: true }).inputValue()).toBe('half.written');
  await expectNoErrorsOrSidewaysScroll();
});

/** Whether a page requests its data when it opens. Forms, the page of all components and the page for unknown URLs do not. */
const requestsData = (path: string) => !/import|parts|new|\?to=/.test(path) && !path.startsWith(`/console/${endless}`);
const api = /\/admin\/v1\//;

describe('every page', () => {
  test.each([
    ['fails', 500, 'internal_error', {}],
    ['refuses requests for a second', 429, 'rate_limit_exceeded', { 'retry-after': '1' }],
  ] as const)(
    'says so in words if the API %s, and shows its data when the API works again',
    async (_, status, code, more) => {
      const opened = await open('/console', { as: signedInOperator });
      const { page, expectNoErrorsOrSidewaysScroll } = opened;
      for (const [path, shown] of pages.filter(([path]) => requestsData(path))) {
        await page.route(api, (route) =>
          route.fulfill({
            status,
            headers: { 'content-type': 'application/problem+json', 'x-request-id': 'request-1', ...more },
            body: JSON.stringify({
              type: `https://postern.example/${code}`,
              code,
              status,
              title: 'The API broke',
              errors: [],
            }),
          }),
        );
        await page.goto(`${postern.url}${path}`);
        await page.getByRole('alert').filter({ visible: true }).first().waitFor();
        await page.unroute(api);
        for (const again of await page.getByRole('button', { name: 'Try now' }).filter({ visible: true }).all()) {
          await again.click({ timeout: 1000 }).catch(() => undefined);
        }
        await untilArrived(opened, shown).catch((error: unknown) => {
          throw new Error(`${name(path)} does not recover`, { cause: error });
        });
      }
      await expectNoErrorsOrSidewaysScroll();
    },
  );

  test('shows that it is loading if the API is slow, and then its data', async () => {
    const opened = await open('/console', { as: signedInOperator });
    const { page, expectNoErrorsOrSidewaysScroll } = opened;
    for (const [path, shown] of pages.filter(([path]) => requestsData(path))) {
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route(api, async (route) => {
        await answered;
        await route.continue();
      });
      await page.goto(`${postern.url}${path}`);
      await page
        .locator('main')
        .getByRole('status')
        .filter({ hasText: 'Loading' })
        .first()
        .waitFor({ state: 'attached' });
      answer();
      await untilArrived(opened, shown);
      await page.unrouteAll({ behavior: 'wait' });
    }
    await expectNoErrorsOrSidewaysScroll();
  });

  test('keeps what it shows if the API cannot be reached, and says since when', async () => {
    const opened = await open('/console', { as: signedInOperator });
    const { page, context } = opened;
    await visit(
      opened,
      async (path) => {
        await context.setOffline(true);
        await page.getByText(/^No connection since/).waitFor();
        const [, shown = /./] = pages.find(([one]) => one === path) ?? [];
        await untilArrived(opened, shown);
        await context.setOffline(false);
        await page.getByText(/^No connection since/).waitFor({ state: 'detached' });
      },
      requestsData,
    );
  });
});

test('support opens the pages that the role may see, without a refusal, and the API refuses the others', async () => {
  const support = await operator('support');
  const opened = await open('/console', { as: support });
  const { page, expectNoErrorsOrSidewaysScroll } = opened;
  const refused: string[] = [];
  page.on('response', (response) => void (response.status() === 403 && refused.push(new URL(response.url()).pathname)));
  const hidden = [
    '/console/audit',
    '/console/keys',
    '/console/audiences',
    '/console/access',
    '/console/backups',
    '/console/providers',
    '/console/system',
  ].concat(pages.map(([path]) => path).filter((path) => /^\/console\/(webhooks|topics|categories)/.test(path)));
  const links = page.getByRole('navigation', { name: 'Pages' }).first().getByRole('link');
  await links.nth(2).waitFor();
  const targets = await Promise.all((await links.all()).map((link) => link.getAttribute('href')));
  expect(targets.filter((target) => hidden.includes(target ?? ''))).toEqual([]);
  for (const [path, shown] of pages.filter(([path]) => path !== '/console' && !hidden.includes(path))) {
    await page.goto(`${postern.url}${path}`);
    await opened.settled();
    await untilArrived(opened, shown).catch((error: unknown) => {
      throw new Error(`${name(path)} does not show ${shown}`, { cause: error });
    });
  }
  expect(refused).toEqual([]);
  for (const path of hidden) {
    const refusal = page.waitForResponse((response) => response.status() === 403);
    await page.goto(`${postern.url}${path}`);
    await refusal;
    const notice = page.locator('main').getByRole('status').filter({ visible: true, hasNotText: 'Loading' });
    await notice.first().waitFor();
  }
  await expectNoErrorsOrSidewaysScroll();
  const bearer = support.session.token;
  const operatorId = signedInOperator.session.user_id;
  for (const [method, path] of [
    ['GET', '/events/page'],
    ['GET', '/keys/page'],
    ['GET', '/system'],
    ['POST', '/keys'],
    ['POST', `/users/${operatorId}/logout`],
    ['DELETE', `/users/${operatorId}`],
  ] as const) {
    const answer = await fetch(`${postern.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: '{}' }),
    });
    expect([path, answer.status]).toEqual([path, 403]);
  }
});
