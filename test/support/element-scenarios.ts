import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import type { ClientBrowser, ClientTab } from './client-scenarios.js';
import { type ElementServer, type ShowOptions, serveElements } from './elements.js';
import { withoutPart } from './gallery.js';
import { clipped, pseudoTexts, textsInLatin } from './pseudo-locale.js';
import { createUser, password } from './users.js';

/** Functions that the expressions of the tests use. They look into the shadow root of the element on the page, at what is visible. */
const helpers = `void Object.assign(globalThis, {
  faults: [],
  all: (selector) => [...element.shadowRoot.querySelectorAll(selector)].filter((node) => node.checkVisibility()),
  button: (name) => all('button').find((node) => (node.getAttribute('aria-label') ?? node.textContent).trim() === name),
  field: (name) => all('label').find((node) => node.textContent.trim() === name)?.control,
  shows: (text) => all('*').some((node) => node.textContent.includes(text)),
  fill: (name, value) => { field(name).value = value; field(name).dispatchEvent(new Event('input', { bubbles: true })); },
})`;
const quote = (value: unknown) => JSON.stringify(value);

/** Declares the tests of the elements that every browser must pass. */
export function testElementsIn(launch: () => Promise<ClientBrowser>): void {
  let server: ElementServer;
  let browser: ClientBrowser;
  let tab: ClientTab;
  beforeAll(async () => {
    server = await serveElements({ PIN_POLICY: 'off' });
    browser = await launch();
    tab = browser.page;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function show(tag: string, options: ShowOptions = {}): Promise<void> {
    await tab.goto(`${server.origin}/?lang=en&dir=ltr`);
    await tab.evaluate('sessionStorage.clear()');
    await tab.until(`typeof show === 'function'`);
    await tab.evaluate(helpers);
    await tab.evaluate(`addEventListener('error', ({ message }) => faults.push(message))`);
    await tab.evaluate(`addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)))`);
    await tab.evaluate(
      `addEventListener('securitypolicyviolation', ({ effectiveDirective }) => faults.push(effectiveDirective))`,
    );
    await tab.evaluate(`show(${quote({ url: server.app.url, tag, ...options })})`);
    await tab.until(`events.some(([type]) => type === 'ready')`);
  }
  const press = async (name: string) => {
    await tab.until(`button(${quote(name)})`);
    await tab.evaluate(`void button(${quote(name)}).click()`);
  };
  const fill = async (name: string, value: string) => {
    await tab.until(`field(${quote(name)})`);
    await tab.evaluate(`fill(${quote(name)}, ${quote(value)})`);
  };
  const expectNoFaults = async () => {
    expect(await tab.evaluate('faults')).toEqual([]);
    expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  };
  const loginOf = ({ username }: User) => ({ login: { identity: username ?? '', password } });

  test('a user signs in after a wrong password, and signs out', async () => {
    const user = await createUser(server.app);
    await show('postern-sign-in');
    await fill('Email, phone or username', user.username ?? '');
    await press('Continue');
    await fill('Password', 'wrong');
    await press('Sign in');
    await tab.until(`shows('Username or password is wrong.')`);
    await fill('Password', password);
    await press('Sign in');
    await tab.until(`shows('You are signed in.')`);
    expect(
      await tab.evaluate(`events.filter(([type]) => type === 'signed-in').map(([, { user_id }]) => user_id)`),
    ).toEqual([user.id]);
    await press('Sign out');
    await tab.until(`field('Email, phone or username')`);
    await expectNoFaults();
  });

  test('the bell counts what arrives, and its panel lists it and clears the number', async () => {
    const user = await createUser(server.app);
    const publish = (description: string) =>
      server.app.api('POST', '/admin/v1/notifications', {
        bearer: server.app.adminKey,
        body: { user_id: user.id, notification_type: 'payment', description },
      });
    await publish('The first');
    await show('postern-inbox', loginOf(user));
    await tab.until(`button('Notifications, 1 unread')`);
    expect(await tab.evaluate(`element.matches(':state(unread)')`)).toBe(true);
    await publish('The second');
    await press('Notifications, 2 unread');
    await tab.until(`all('.item').length === 2 && shows('The second')`);
    // Inside the window, below the bell.
    expect(
      await tab.evaluate(`(() => {
        const panel = all('.panel')[0].getBoundingClientRect();
        const bell = all('.bell')[0].getBoundingClientRect();
        return panel.top >= bell.bottom && panel.left >= 0 && panel.right <= innerWidth;
      })()`),
    ).toBe(true);
    await tab.until(`button('Notifications')`);
    await press('Push settings');
    await tab.until(`all('input[type=checkbox]').length === 1`);
    await press('Back');
    await tab.until(`all('.item').length === 2`);
    await tab.evaluate('void (element.open = false)');
    await tab.until(`all('.item').length === 0`);
    await expectNoFaults();
  });

  test('a name and a password are changed, the password with the current one', async () => {
    const user = await createUser(server.app, { name: 'Ada' });
    await show('postern-account', loginOf(user));
    await press('Change: Name');
    await fill('Name (optional)', 'Grace');
    await press('Save');
    await tab.until(`shows('Grace') && all('dialog').length === 0`);
    await press('Change: Password');
    await fill('Current password', password);
    await fill('New password', 'the moon and back again');
    await press('Save');
    await tab.until(`events.some(([type, detail]) => type === 'changed' && detail.operation === 'set_password')`);
    expect(await tab.evaluate('postern.current.status')).toBe('signed_in');
    await expectNoFaults();
  });

  test.each([
    ['postern-sign-in', {}, 'input'],
    ['postern-account', {}, '.line'],
    ['postern-inbox', { layout: 'list' }, '.item'],
    ['postern-preferences', {}, '.category'],
  ] as const)(
    '%s fits in a long language and in one from right to left, and has a part wherever it draws',
    async (tag, attributes, drawn) => {
      const user = await createUser(server.app);
      const body = { user_id: user.id, notification_type: 'payment', actor: 'Ada', description: 'مرحبا' };
      await server.app.api('POST', '/admin/v1/notifications', { bearer: server.app.adminKey, body });
      const login = tag === 'postern-sign-in' ? {} : loginOf(user);
      await show(tag, { attributes, texts: pseudoTexts, ...login });
      for (const [lang, dir] of [
        ['en', 'ltr'],
        ['pl', 'ltr'],
        ['ar', 'rtl'],
      ]) {
        await tab.evaluate(`void (document.documentElement.dir = '${dir}', element.lang = '${lang}')`);
        await tab.until(`all('${drawn}').length > 0`);
        if (lang === 'ar') await tab.until(`${textsInLatin}.length === 0`);
        expect([lang, await tab.evaluate(withoutPart)]).toEqual([lang, []]);
        expect([lang, await tab.evaluate(clipped)]).toEqual([lang, []]);
      }
      await expectNoFaults();
    },
  );
}
