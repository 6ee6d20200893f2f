import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { createUser, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'optional', REGISTRATION: 'on', MAIL_PROVIDER: 'console' });
});
afterAll(() => pages?.close());

/** Sets a property again, to an equal value, as a framework does that renders once a second. */
const equalProperties = {
  'postern-sign-in': [
    'postern = element.postern',
    'texts = { sign_in: "Come in" }',
    'ways = ["password", "email"]',
    'identityTypes = ["email", "username"]',
    'pin = "hidden"',
    'registration = true',
    'recovery = true',
    'returnTo = "/home"',
    'lang = "en"',
  ],
  'postern-inbox': [
    'postern = element.postern',
    'texts = { inbox: "News" }',
    'layout = "bell"',
    'filter = { notification_type: "payment" }',
    'limit = 10',
    'open = true',
    'lang = "en"',
  ],
  'postern-account': [
    'postern = element.postern',
    'texts = { profile: "You" }',
    'sections = ["profile", "addresses"]',
    'lang = "en"',
  ],
} as const;

type Tag = keyof typeof equalProperties;
const setAll = (tag: Tag) => equalProperties[tag].map((one) => `element.${one};`).join(' ');

/** Shows an element of a user with a notification, and marks its nodes and counts its requests. */
async function showWith(tag: Tag, options: ShowOptions = {}) {
  const user = await createUser(pages.app);
  const body = { user_id: user.id, notification_type: 'payment', description: 'Paid' };
  await pages.app.api('POST', '/admin/v1/notifications', { bearer: pages.app.adminKey, body });
  const login = tag === 'postern-sign-in' ? {} : { login: { identity: user.username ?? '', password } };
  const shown = await pages.show(tag, { ...login, ...options });
  await shown.page.evaluate(setAll(tag));
  return shown;
}
const requestsOf = ({ page }: ElementPage) => {
  const urls: string[] = [];
  page.on('request', (request) => urls.push(request.url()));
  return urls;
};
const rendered = (page: ElementPage['page'], count = 3) =>
  page.evaluate(`(async () => {
    for (let i = 0; i < ${count}; i += 1) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  })()`);

test.each(equalProperties['postern-sign-in'])(
  'sign-in keeps what was typed and the focus after %s',
  async (property) => {
    const shown = await showWith('postern-sign-in');
    const { page } = shown;
    const field = page.getByRole('textbox', { name: /^Email/ });
    await field.fill('ada@example.com');
    await page.evaluate('window.before = element.shadowRoot.activeElement');
    const urls = requestsOf(shown);
    await page.evaluate(`element.${property}`);
    await rendered(page);
    expect(await page.evaluate('element.shadowRoot.activeElement === before')).toBe(true);
    expect(await field.inputValue()).toBe('ada@example.com');
    expect(urls).toEqual([]);
  },
);

test.each(equalProperties['postern-inbox'])(
  'the inbox keeps its rows, the focus and the stream after %s',
  async (property) => {
    const shown = await showWith('postern-inbox');
    const { page } = shown;
    await page.getByRole('listitem').first().waitFor();
    await page.evaluate('void (window.before = element.shadowRoot.querySelector(".item")).focus()');
    const urls = requestsOf(shown);
    await page.evaluate(`element.${property}`);
    await rendered(page);
    expect(await page.evaluate('element.shadowRoot.activeElement === before')).toBe(true);
    expect(urls).toEqual([]);
  },
);

test.each(equalProperties['postern-account'])('the account keeps its open dialog after %s', async (property) => {
  const shown = await showWith('postern-account');
  const { page } = shown;
  await page.getByRole('heading', { name: 'You' }).waitFor();
  await page.getByRole('button', { name: 'Change: Name' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Grace');
  const urls = requestsOf(shown);
  await page.evaluate(`element.${property}`);
  await rendered(page);
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Grace');
  expect(await page.evaluate('element.shadowRoot.activeElement?.name')).toBe('name');
  expect(urls).toEqual([]);
});

test('other texts, another language and another place keep what was typed and the cursor', async () => {
  const { page, until } = await showWith('postern-sign-in');
  const value = () => page.evaluate<unknown>('element.shadowRoot.activeElement?.value');
  await page.getByRole('textbox', { name: /^Email/ }).fill('ada@example.com');
  await page.keyboard.press('ArrowLeft');
  await page.evaluate('element.texts = { sign_in: "Enter" }');
  await page.getByRole('heading', { name: 'Enter' }).waitFor();
  expect(await value()).toBe('ada@example.com');
  await page.evaluate('element.texts = {}, element.lang = "es"');
  await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
  expect(await value()).toBe('ada@example.com');
  await page.keyboard.type('.');
  expect(await value()).toBe('ada@example.co.m');
  await page.evaluate('document.body.append(element)');
  await until('element.shadowRoot.activeElement?.value === "ada@example.co.m"');
  await page.evaluate('element.ways = ["password"]');
  await until('element.shadowRoot.activeElement?.value === "ada@example.co.m"');
});

test('other texts, another layout and another place keep the stream, the open panel and the focus', async () => {
  const shown = await showWith('postern-inbox');
  const { page, until } = shown;
  await page.getByRole('listitem').first().waitFor();
  await page.evaluate('element.shadowRoot.querySelector(".item").focus()');
  const urls = requestsOf(shown);
  await page.evaluate('element.texts = { inbox: "Letters" }');
  await page.getByRole('heading', { name: 'Letters' }).waitFor();
  await until('element.shadowRoot.activeElement?.matches(".item")');
  await page.evaluate('document.body.append(element)');
  await until('element.shadowRoot.activeElement?.matches(".item")');
  await page.evaluate('element.renderItem = () => "Mine"');
  await page.getByText('Mine').waitFor();
  await until('element.shadowRoot.activeElement?.matches(".item")');
  await page.evaluate('element.layout = "list"');
  await page.getByText('Mine').waitFor();
  expect(urls.filter((url) => url.includes('/v1/'))).toEqual([]);
});

test('the account shows another language when its open dialog has closed', async () => {
  const { page } = await showWith('postern-account');
  await page.getByRole('heading', { name: 'You' }).waitFor();
  await page.getByRole('button', { name: 'Change: Name' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Grace');
  await page.evaluate('element.texts = { profile: "Me" }');
  await rendered(page);
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Grace');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Me' }).waitFor();
  await page.getByText('Grace').waitFor();
});
