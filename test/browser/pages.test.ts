// The pages of Postern in a browser, with the code of docs/pages.md.
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fencesOf } from '../docs/markdown.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { addAuthenticator, launchBrowser } from '../support/browser.js';
import { pageSettings } from '../support/page-browser.js';
import { createUser, newEmail, password } from '../support/users.js';

let postern: TestApp;
let service: string;
let browser: Browser;
/** The app, on another site than the service. */
let origin: string;
let site: Server;
const pictures = process.env.PAGES_PICTURES;

/** The page of the recipe. */
async function serveApp(): Promise<Server> {
  let html = '';
  let script = '';
  const server = createServer(async (request, response) => {
    if (request.url === '/favicon.ico') return void response.writeHead(204).end();
    if (request.url === '/app.js') return void response.setHeader('content-type', 'text/javascript').end(script);
    if (script === '') {
      const fences = fencesOf('docs/pages.md');
      const textOf = (language: string) => fences.find((one) => one.language === language)?.text ?? '';
      html =
        `<!doctype html><title>App</title>${textOf('html')}<script type="module" src="/app.js"></script>`.replaceAll(
          'https://auth.example.com',
          service,
        );
      const { outputFiles } = await build({
        stdin: { contents: textOf('js').replaceAll('https://auth.example.com', service), resolveDir: '.' },
        alias: { '@postern/client': fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url)) },
        ...{ bundle: true, format: 'esm', write: false, target: 'es2022' },
      });
      script = outputFiles[0]?.text ?? '';
    }
    response.setHeader('content-type', 'text/html').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

beforeAll(async () => {
  site = await serveApp();
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const logo = join(tmpdir(), 'pages-logo.png');
  await sharp({ create: { width: 320, height: 96, channels: 4, background: '#0f766e' } })
    .png()
    .toFile(logo);
  const settings = await pageSettings([`${origin}/`]);
  service = settings.PUBLIC_URL.replace('127.0.0.1', 'localhost');
  postern = await startTestApp({
    ...settings,
    ...{ PUBLIC_URL: service, CORS_ORIGINS: origin, REGISTRATION: 'on', MAIL_PROVIDER: 'console', APP_NAME: 'Acme' },
    ...{
      APP_COLOR: '#0f766e',
      APP_TERMS_URL: 'https://acme.example/terms',
      APP_PRIVACY_URL: 'https://acme.example/privacy',
    },
    ...(pictures === 'logo' && { APP_LOGO: logo }),
  });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  await new Promise<void>((resolve) => {
    site?.close(() => resolve());
    site?.closeAllConnections();
  });
});

type ContextOptions = Parameters<Browser['newContext']>[0];
/** A browser, and everything that its pages complain about. */
async function open(options: ContextOptions = {}): Promise<{ context: BrowserContext; page: Page; faults: string[] }> {
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
  const faults: string[] = [];
  const page = await context.newPage();
  // The app has complaints of its own: the first request with a key that is bound gets a nonce with a 401.
  const note = (text: string) => page.url().startsWith(service) && faults.push(text);
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(message.text()));
  page.on('pageerror', (error) => note(String(error)));
  return { context, page, faults };
}

async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 100))))`,
  );
  expect(violations).toEqual([]);
  const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(content).toBeLessThanOrEqual(window ?? 0);
}

async function signIn(page: Page, identity: string | null): Promise<void> {
  await page.locator('input[name=identity]').fill(identity ?? '');
  await page.keyboard.press('Enter');
  await page.locator('input[name=password]').fill(password);
  await page.keyboard.press('Enter');
}

const shifts = `new Promise((resolve) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries())).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(found.filter((entry) => !entry.hadRecentInput)
    .map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? '')]))));
})`;

const take = async (page: Page, name: string) => {
  if (pictures === undefined) return;
  await mkdir('/tmp/pages-pictures', { recursive: true });
  await page.screenshot({
    path: `/tmp/pages-pictures/${name}${pictures === 'logo' ? '-logo' : ''}.png`,
    fullPage: true,
  });
};

test('an app without a page of its own signs its users in, and the account lists it', async () => {
  const user = await createUser(postern, { username: 'ada', name: 'Ada', email: newEmail() });
  const { context, page, faults } = await open();
  await page.goto(`${origin}/`);
  await page.waitForURL(`${service}/sign-in?**`);
  await page.getByText('To continue to').waitFor();
  await expectAccessible(page);
  await take(page, 'sign-in-for-app');
  // The browser lists passkeys at the first field.
  expect(await page.locator('input[name=identity]').getAttribute('autocomplete')).toContain('webauthn');
  await signIn(page, user.username);
  await page.getByText(`Signed in as ${user.id}`).waitFor();
  expect(page.url()).toBe(`${origin}/`);

  const other = await context.newPage();
  await other.goto(`${service}/account`);
  await other.getByRole('heading', { name: 'Apps' }).waitFor();
  await expectAccessible(other);
  await take(other, 'account');
  await other.close();
  expect(faults).toEqual([]);
  await context.close();
});

test('logging out of the app ends the login of the page, so the next visit asks again', async () => {
  const user = await createUser(postern, { username: 'grace', name: 'Grace' });
  const { context, page, faults } = await open();
  await page.goto(`${origin}/`);
  await page.locator('input[name=identity]').waitFor();
  await signIn(page, user.username);
  await page.getByText(`Signed in as ${user.id}`).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${service}/sign-in?**`);
  await page.locator('input[name=identity]').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('“Continue as Linus?”, another account, and a refusal that the app hears of', async () => {
  const user = await createUser(postern, { username: 'linus', name: 'Linus' });
  const { context, page, faults } = await open();
  await page.goto(`${service}/sign-in`);
  await page.locator('input[name=identity]').waitFor();
  await signIn(page, user.username);
  await page.waitForURL(`${service}/account`);
  await page.goto(`${origin}/`);
  await page.getByRole('heading', { name: 'Continue as Linus?' }).waitFor();
  await expectAccessible(page);
  await take(page, 'continue');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL((url) => url.origin === origin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Use another account' }).click();
  await page.locator('input[name=identity]').waitFor();
  await page.goBack();
  await page.goto(`${origin}/`);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByText(`Signed in as ${user.id}`).waitFor();
  // The answer is taken back.
  const account = await context.newPage();
  await account.goto(`${service}/account`);
  await account.getByRole('button', { name: /^Ask again/ }).click();
  await account.getByText('The app asks again next time.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a passkey is offered after a login with a password', async () => {
  const user = await createUser(postern, { username: 'katherine', name: 'Katherine' });
  const { context, page, faults } = await open();
  const authenticator = await addAuthenticator(page, { verifiesUser: true });
  await page.goto(`${origin}/`);
  await page.locator('input[name=identity]').waitFor();
  await signIn(page, user.username);
  await page.getByRole('heading', { name: 'Sign in faster next time' }).waitFor();
  await expectAccessible(page);
  await take(page, 'passkey');
  await page.getByRole('button', { name: 'Create a passkey' }).click();
  await page.getByText(`Signed in as ${user.id}`).waitFor();
  expect(await authenticator.credentials()).toHaveLength(1);
  expect(faults).toEqual([]);
  await context.close();
});

test('a login that has ended says so, and leads back to the app, which begins again', async () => {
  const { context, page } = await open();
  await page.goto(`${origin}/`);
  await page.locator('input[name=identity]').waitFor();
  const { searchParams } = new URL(page.url());
  const id = (searchParams.get('state') ?? '').slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  for (let visit = 0; visit < 5; visit += 1) await page.goto(`${service}/redirects/${id}`);
  await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor();
  await expectAccessible(page);
  await take(page, 'ended');
  await page.getByRole('link', { name: 'Begin again' }).click();
  await page.waitForURL((url) => url.origin === origin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('input[name=identity]').waitFor();
  await context.close();
});

const looks = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en-US', 'es-ES'] as const).map((locale) => [width, theme, locale] as const),
  ),
);
describe('every page', () => {
  test.each(looks)(
    '%i px, %s, %s: nothing moves, all can be read, and nothing is complained about',
    async (width, theme, locale) => {
      const { context, page, faults } = await open({
        ...{ viewport: { width, height: width === 1280 ? 800 : 844 }, colorScheme: theme, locale },
      });
      for (const path of ['/sign-in', '/link', `/link#${randomUUID()}.271828`]) {
        // Only another fragment would not load the page again.
        await page.goto('about:blank');
        await page.goto(`${service}${path}`);
        await page.getByRole('heading', { level: 2 }).first().waitFor();
        if (path === '/sign-in') await page.locator('input[name=identity]').waitFor();
        expect(await page.evaluate<unknown[]>(shifts)).toEqual([]);
        await expectAccessible(page);
        if (path.includes('#')) await page.getByText('271828', { exact: true }).waitFor();
        await take(page, `${path.slice(1).replace(/#.*/, '-code')}-${width}-${theme}-${locale.slice(0, 2)}`);
      }
      await page.goto(`${service}/sign-in`);
      await signIn(page, await accountFor(locale));
      await page.waitForURL(`${service}/account`);
      // As a later visit begins, without a login just before.
      await page.reload();
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      expect(await page.evaluate<unknown[]>(shifts)).toEqual([]);
      await expectAccessible(page);
      await take(page, `account-${width}-${theme}-${locale.slice(0, 2)}`);
      expect(faults).toEqual([]);
      await context.close();
    },
  );
});

const accounts = new Map<string, string>();
async function accountFor(locale: string): Promise<string> {
  const username = accounts.get(locale) ?? `look.${locale.toLowerCase()}`;
  if (!accounts.has(locale)) await createUser(postern, { username, name: 'Ada Lovelace', email: newEmail() });
  accounts.set(locale, username);
  return username;
}
