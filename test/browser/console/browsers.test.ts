import { randomInt } from 'node:crypto';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createUser, password } from '../../support/users.js';

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

/** A key that an input method takes: `isComposing`, or in Safari only the key code. */
const compose = (page: Page, key: string, init: object) =>
  page.evaluate(
    `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', ${JSON.stringify({ key, bubbles: true, cancelable: true, ...init })}))`,
  );
const composing: [string, object][] = [
  ['while it composes', { isComposing: true, keyCode: 229 }],
  ['in Safari, after it has composed', { keyCode: 229 }],
];

describe.each(composing)('a key of an input method chooses nothing, %s', (_, init) => {
  test('in the command palette', async () => {
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator() });
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'A page, an action, a user' });
    await box.fill('Messages');
    await page.getByRole('option', { name: /^Messages/, selected: true }).waitFor();
    await compose(page, 'Enter', init);
    await compose(page, 'ArrowDown', init);
    await box.waitFor();
    expect(await page.getByRole('option', { name: /^Messages/ }).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });

  test('in the search for recipients, in filters, in lists and for shortcuts', async () => {
    const name = `Kanako${randomInt(1e9)}`;
    await createUser(postern, { name });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/notifications', { as: await operator() });
    const search = page.getByRole('combobox');
    await search.fill(name);
    await page.getByRole('option', { name: new RegExp(name) }).waitFor();
    await compose(page, 'Enter', init);
    expect(await search.inputValue()).toBe(name);

    await page.goto(`${postern.url}/console/messages`);
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    await page.evaluate('document.activeElement.blur()');
    await compose(page, '?', init);
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.goto(`${postern.url}/console/users?q=${name}`);
    await page
      .getByRole('row', { name: new RegExp(name) })
      .first()
      .focus();
    await compose(page, 'Enter', init);
    expect(new URL(page.url()).pathname).toBe('/console/users');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/users\/[0-9a-f-]{36}/);
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('the field for a code', () => {
  const digitsFrom = (zero: string) => (code: string) =>
    code.replaceAll(/\d/g, (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit)));
  async function atCode() {
    const person = await operator();
    const opened = await open('/console');
    const { page } = opened;
    await page.getByLabel('Mail address, username or phone').fill(person.username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await person.app.rewind();
    const field = page.getByLabel('6-digit code');
    await field.waitFor();
    return { ...opened, field, code: await person.app.code() };
  }
  const isOnOverview = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

  test.each([
    ['Arabic', '٠'],
    ['Persian', '۰'],
    ['Devanagari', '०'],
    ['full width', '０'],
    ['mathematical', '𝟶'],
  ])('takes %s digits', async (_, zero) => {
    const { page, field, code, expectNoErrorsOrSidewaysScroll } = await atCode();
    await field.fill(digitsFrom(zero)(code));
    await isOnOverview(page);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('takes what an input method has composed, once', async () => {
    const { page, context, field, code } = await atCode();
    const input = await context.newCDPSession(page);
    const wide = digitsFrom('０')(code);
    await field.focus();
    for (let length = 1; length <= 6; length += 1) {
      const text = wide.slice(0, length);
      await input.send('Input.imeSetComposition', { text, selectionStart: length, selectionEnd: length });
    }
    expect(await field.inputValue()).toBe(wide);
    await input.send('Input.insertText', { text: wide });
    await isOnOverview(page);
  });
});

test.each(['light', 'dark'] as const)(
  'a page is never shown in another theme than the chosen one: %s',
  async (chosen) => {
    const other = chosen === 'dark' ? 'light' : 'dark';
    const { page, context } = await open('/console', { theme: other });
    await page.evaluate(`localStorage.setItem('postern.theme', '${chosen}')`);
    const next = await context.newPage();
    let loadModules = () => {};
    const modules = new Promise<void>((resolve) => {
      loadModules = resolve;
    });
    // Before the modules arrive, a browser shows what the page has.
    await next.route('**/assets/index-*.js', async (route) => {
      await modules;
      await route.continue();
    });
    await next.goto(`${postern.url}/console`, { waitUntil: 'commit' });
    const background = 'getComputedStyle(document.documentElement).backgroundColor';
    const expected = chosen === 'dark' ? 'rgb(24, 24, 22)' : 'rgb(255, 255, 255)';
    await eventually('the page has its style', async () =>
      (await next.evaluate<string>(background)) === 'rgba(0, 0, 0, 0)' ? undefined : true,
    );
    expect(await next.evaluate(background)).toBe(expected);
    loadModules();
    await next.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await next.evaluate(background)).toBe(expected);
  },
);

describe('a browser that refuses cookies', () => {
  const hint = 'Your browser refuses cookies for this site';
  test('is told so at the sign-in', async () => {
    const { page, context, expectAccessible } = await open('/console');
    expect(await page.getByText(hint).count()).toBe(0);
    await context.addInitScript("Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} })");
    await page.reload();
    await page.getByText(hint).waitFor();
    await expectAccessible();
  });
});

describe('on paper', () => {
  test.each(['/console/users', '/console', '/console/system'])(
    '%s is dark on white, without the frame',
    async (path) => {
      const { page } = await open(path, { as: await operator(), theme: 'dark' });
      await page.evaluate("localStorage.setItem('postern.theme', 'dark')");
      await page.reload();
      await page.waitForSelector('h1');
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Your account' }).filter({ visible: true }).count()).toBe(0);
      expect(await page.getByRole('searchbox').filter({ visible: true }).count()).toBe(0);
      expect(
        await page
          .getByRole('link', { name: /^Import/ })
          .filter({ visible: true })
          .count(),
      ).toBe(0);
      expect(await page.locator('h1').isVisible()).toBe(true);
      const color = 'getComputedStyle(document.querySelector("h1")).color';
      expect(await page.evaluate(color)).toBe('rgb(27, 26, 23)');
      // Something is on the paper, from its left edge on.
      const left = await page.evaluate<number>('document.querySelector("main").getBoundingClientRect().left');
      expect(left).toBe(0);
      expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(1000);
    },
  );
});

describe('after an upgrade of the service', () => {
  /** The files of a page: 404 for the code of pages, and for scripts the page of another version. */
  async function withUpgrade(page: Page) {
    let isUpgraded = false;
    let loads = 0;
    await page.route('**/console/assets/*.js', (route: Route) =>
      isUpgraded ? route.fulfill({ status: 404, body: '' }) : route.continue(),
    );
    await page.route(/\/console(\/[a-z]+)?$/, async (route: Route) => {
      if (route.request().resourceType() === 'document') {
        loads += 1;
        isUpgraded = false;
        return route.continue();
      }
      if (!isUpgraded) return route.continue();
      const answer = await route.fetch();
      return route.fulfill({
        response: answer,
        body: (await answer.text()).replaceAll('assets/index-', 'assets/index-2-'),
      });
    });
    const upgrade = () => {
      isUpgraded = true;
    };
    return { upgrade, loads: () => loads };
  }

  test('a page whose code is gone is loaded again', async () => {
    const { page } = await open('/console', { as: await operator() });
    const { upgrade, loads } = await withUpgrade(page);
    upgrade();
    await page.getByRole('link', { name: 'Messages' }).click();
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    expect(loads()).toBe(1);
  });

  test('only a click loads the page again, not the pointer over a link', async () => {
    const { page } = await open('/console/parts', { as: await operator() });
    const { upgrade, loads } = await withUpgrade(page);
    await page.getByLabel('Note').fill('half a sentence');
    upgrade();
    const asked = page.waitForResponse((response) => response.url().endsWith('/console'));
    await page.getByRole('link', { name: 'Messages' }).hover();
    await asked;
    expect(await page.getByLabel('Note').inputValue()).toBe('half a sentence');
    expect(loads()).toBe(0);
  });

  test('without a connection, the page stays, says why, and opens when the connection is back', async () => {
    const { page } = await open('/console', { as: await operator() });
    let loads = 0;
    page.on('request', (request) => {
      if (request.resourceType() === 'document') loads += 1;
    });
    let isLost = true;
    await page.route('**/*', (route) => (isLost ? route.abort() : route.continue()));
    await page.getByRole('link', { name: 'Messages' }).click();
    await page.getByText('Postern cannot be reached.').first().waitFor();
    isLost = false;
    await page.getByRole('button', { name: 'Try now' }).first().click();
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    expect(loads).toBe(0);
  });
});
