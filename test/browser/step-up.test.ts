// The recipe "Ask again before paying" of docs/server.md in a browser: its page and its API.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPosternServer, expressSession, sessionOf } from '@postern/server';
import axe from 'axe-core';
import { build } from 'esbuild';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fencesOf } from '../docs/markdown.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { createFactors } from '../support/factors.js';
import { passOn } from '../support/public-address.js';
import { testSql } from '../support/sql.js';
import { createUser, password } from '../support/users.js';

const sourceOf = (path: string) => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

let app: TestApp;
let browser: Browser;
let server: Server;
let origin: string;
/** Who has paid. */
const paid: string[] = [];
beforeAll(async () => {
  const site = express();
  server = createServer(site);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startTestApp({ PUBLIC_URL: origin, LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  const postern = createPosternServer({ url: app.url });
  for (const [path, factor] of [
    ['/api/payments', false],
    ['/api/transfers', true],
  ] as const) {
    site.post(path, expressSession(postern, { within: '10m', factor }), (request, response) => {
      paid.push(sessionOf(request).user_id);
      response.json({});
    });
  }
  const fences = fencesOf('docs/server.md');
  const find = (language: string, text: string) =>
    fences.find((fence) => fence.language === language && fence.text.includes(text))?.text ?? '';
  const [html, script] = [find('html', '<postern-step-up>'), find('js', 'defineStepUp')];
  const files = await builtFiles(script.replace('https://auth.example.com', origin));
  site.use((request, response, next) => {
    const file = files.get(basename(request.path));
    if (file === undefined) return next();
    response.type('js').send(Buffer.from(file));
  });
  site.get('/favicon.ico', (_, response) => void response.sendStatus(204));
  site.get('/:lang', (request, response) => {
    response.setHeader('content-security-policy', policy);
    response.send(
      `<!doctype html><html lang="${request.params.lang}"><title>Pay</title><main><h1>Pay</h1>${html}</main><script type="module" src="/page.js"></script></html>`,
    );
  });
  site.use((incoming, response) => passOn(app.url, incoming, response));
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  server?.closeAllConnections();
  server?.close();
});

/** The script of the recipe, which also lets the tests log in, in parts, as a bundler writes them. */
async function builtFiles(script: string): Promise<Map<string, Uint8Array>> {
  const contents = `${script}
    import { createLogin } from '@postern/client';
    globalThis.logIn = (input) => createLogin(postern).start().password(input).then(({ step }) => step);
    globalThis.send = (path) => postern.fetch(path, { method: 'POST' }).then(({ status }) => status, ({ kind }) => kind);`;
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: sourceOf('client'), sourcefile: 'page.js' }, bundle: true, write: false },
    ...{ format: 'esm', splitting: true, target: 'es2022', outdir: '/built', entryNames: 'page' },
    alias: {
      '@postern/client/internal': sourceOf('client/src/internal.ts'),
      '@postern/client': sourceOf('client/src/index.ts'),
      '@postern/elements/step-up': sourceOf('elements/src/step-up/index.ts'),
    },
  });
  return new Map(outputFiles.map(({ path, contents: code }) => [basename(path), code]));
}

const { enrolTotp, signInAgain } = createFactors(() => app);

const contexts: BrowserContext[] = [];
afterEach(async () => {
  paid.length = 0;
  for (const context of contexts.splice(0)) await context.close();
});

/** A page of a user who logged in 11 minutes ago. */
async function open(options: { width?: number; language?: 'en' | 'es' } = {}) {
  const { width = 1280, language = 'en' } = options;
  const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' });
  contexts.push(context);
  const [page, faults] = await openPage(context, language);
  const user = await createUser(app);
  const input = { identity: user.username ?? '', password };
  expect(await page.evaluate(`logIn(${JSON.stringify(input)})`)).toBe('done');
  await app.database.query(
    testSql("update authentications set approved_at = approved_at - interval '11 minutes' where user_id = $1", [
      user.id,
    ]),
  );
  return { context, page, user, faults };
}
async function openPage(context: BrowserContext, language = 'en'): Promise<[Page, string[]]> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    const isReport = ['error', 'warning'].includes(message.type());
    if (isReport && !message.text().startsWith('Failed to load resource')) faults.push(message.text());
  });
  await page.goto(`${origin}/${language}`);
  await expect.poll(() => page.evaluate('typeof logIn')).toBe('function');
  return [page, faults];
}
const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });
const expectAccessible = async (page: Page) => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string }[] }>('axe.run(document)');
  expect(violations.map(({ id }) => id)).toEqual([]);
};

test('a payment waits for the proof, by keyboard: a wrong one is explained, the right one pays once', async () => {
  const { page, user, faults } = await open();
  await page.getByRole('button', { name: 'Pay 7 €' }).press('Enter');
  await dialogOf(page).waitFor();
  await expectAccessible(page);
  await page.keyboard.type('not this one');
  await page.keyboard.press('Enter');
  await page.getByText('That is wrong or has expired.').waitFor();
  expect(paid).toEqual([]);
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByText('Paid.').waitFor();
  await dialogOf(page).waitFor({ state: 'hidden' });
  // The focus is back on the button.
  await page.keyboard.press('Enter');
  await expect.poll(() => paid).toEqual([user.id, user.id]);
  expect(faults).toEqual([]);
});

test('a user who refuses pays nothing, and can pay later, on a phone in Spanish', async () => {
  const { page, user, faults } = await open({ width: 390, language: 'es' });
  await page.getByRole('button', { name: 'Pay 7 €' }).click();
  await page.getByRole('dialog', { name: 'Confirma que eres tú' }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect([paid, await page.getByRole('status').textContent()]).toEqual([[], '']);
  await page.getByRole('button', { name: 'Pay 7 €' }).click();
  await page.getByLabel('Contraseña', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByText('Paid.').waitFor();
  expect([paid, faults]).toEqual([[user.id], []]);
});

test('requests at the same time and another tab share one proof', async () => {
  const { context, page, user } = await open();
  const [other] = await openPage(context);
  const sent = page.evaluate(`Promise.all(Array.from({ length: 10 }, () => send('/api/payments')))`);
  const sentByOther = other.evaluate(`send('/api/payments')`);
  await Promise.all([dialogOf(page).waitFor(), dialogOf(other).waitFor()]);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  expect(await sent).toEqual(Array.from({ length: 10 }, () => 200));
  expect(await sentByOther).toBe(200);
  await dialogOf(other).waitFor({ state: 'hidden' });
  expect(paid).toEqual(Array.from({ length: 11 }, () => user.id));
});

test('with `factor`, a user without a second factor learns it, and one with an authenticator app is asked for its code', async () => {
  const { page, user } = await open();
  expect(await page.evaluate(`send('/api/transfers')`)).toBe('enrolment_required');
  const { app: totp } = await enrolTotp(await signInAgain(user));
  const sent = page.evaluate(`send('/api/transfers')`);
  await dialogOf(page).waitFor();
  await page.getByLabel('Code of your authenticator app').fill(await totp.code());
  await page.keyboard.press('Enter');
  expect([await sent, paid]).toEqual([200, [user.id]]);
});
