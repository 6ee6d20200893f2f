// The recipes of docs/sign-up.md in a browser, with the packed client.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fencesOf } from '../docs/markdown.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { type MailServer, startMailServer } from '../support/mail-server.js';
import { type PackedProject, packProject } from '../support/packed.js';
import { passOn } from '../support/public-address.js';
import { createUser, newEmail, password } from '../support/users.js';

const pagesOfRecipes = ['code', 'links', 'guests'] as const;

let app: TestApp;
let mails: MailServer;
let browser: Browser;
let project: PackedProject;
let origin: string;
let close: () => void;
beforeAll(async () => {
  project = await packProject(['client']);
  mails = await startMailServer();
  const site = express();
  const server = createServer(site);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => server.close();
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startTestApp({
    ...{ PUBLIC_URL: origin, REDIRECT_URIS: `${origin}/links`, TRUST_PROXY: '127.0.0.1', PIN_POLICY: 'off' },
    ...{ LOGIN_LINK: 'on', GUESTS: 'on', REGISTRATION: 'on' },
    ...{ SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=none`, MAIL_FROM: 'no-reply@example.org' },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
  });
  const fences = fencesOf('docs/sign-up.md');
  const [documents, scripts] = ['html', 'js'].map((wanted) => fences.filter(({ language }) => language === wanted));
  expect([documents?.length, scripts?.length]).toEqual([pagesOfRecipes.length, pagesOfRecipes.length]);
  const shown = new Map<string, string>();
  for (const [index, name] of pagesOfRecipes.entries()) {
    await project.write(`${name}.js`, (scripts?.[index]?.text ?? '').replace('https://auth.example.com', origin));
    const { entry } = await project.bundle('esbuild', `${name}.js`, 'page');
    const script = `<script type="module" src="/built/${entry}"></script>`;
    shown.set(name, `<!doctype html><title>App</title>${documents?.[index]?.text}${script}`);
  }
  site.use('/built', express.static(project.folder));
  site.get('/:name', (asked, response, next) => {
    const page = shown.get(asked.params.name);
    if (page === undefined) next();
    else response.send(page);
  });
  site.use((incoming, response) => passOn(app.url, incoming, response));
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await mails?.close();
  await project?.remove();
  close?.();
});

const contexts: BrowserContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  contexts.push(context);
  return context;
}
async function open(path: string, context?: BrowserContext): Promise<Page> {
  const page = await (context ?? (await newContext())).newPage();
  await page.goto(`${origin}/${path}`);
  return page;
}
const usersWith = async (email: string) => {
  const path = `/admin/v1/users?filter=email:eq:${email}`;
  return (await app.api<{ id: string }[]>('GET', path, { bearer: app.adminKey })).body.length;
};

/** What the mail to an address contains. */
const inMailTo = (email: string, wanted: RegExp) =>
  eventually('the mail', async () => wanted.exec(mails.received.find(({ to }) => to.includes(email))?.text ?? '')?.[1]);

test('sign up with one code: a wrong code is explained, and the right one makes the account', async () => {
  const email = newEmail();
  const page = await open('code');
  await page.fill('input', email);
  await page.click('button');
  const code = await inMailTo(email, /^ {4}(\d{6})$/m);
  await page.waitForFunction(`document.querySelector('input').value === ''`);
  await page.fill('input', code === '000000' ? '000001' : '000000');
  await page.click('button');
  await page.waitForFunction(`document.querySelector('[role=alert]').textContent !== ''`);
  await page.fill('input', code);
  await page.click('button');
  await page.waitForFunction(`document.querySelector('form').hidden`);
  expect(await usersWith(email)).toBe(1);
});

test('mail links: this browser is signed in by the link, and another one shows the code', async () => {
  const email = newEmail();
  await createUser(app, { email });
  const context = await newContext();
  const page = await open('links', context);
  await page.fill('input', email);
  await page.click('button');
  const link = await inMailTo(email, /^ {4}(\S+#\S+)$/m);
  const foreign = await open(new URL(link).pathname.slice(1) + new URL(link).hash);
  await foreign.waitForFunction(`document.querySelector('output').value.startsWith('Your code is ')`);
  expect(new URL(foreign.url()).hash).toBe('');
  const own = await context.newPage();
  await own.goto(link);
  await own.waitForFunction(`document.querySelector('output').value === 'You are signed in.'`);
  expect(await foreign.textContent('output')).toMatch(/^Your code is \d{6}\.$/);
});

test('guests: what a guest got moves to the account that signs in', async () => {
  const user = await createUser(app);
  const page = await open('guests');
  const entered = page.waitForResponse((answer) => answer.url().endsWith('/v1/tokens'));
  await page.click('#guest');
  const { user_id } = (await (await entered).json()) as { readonly user_id: string };
  await page.waitForFunction(`document.querySelector('output').value === 'Welcome.'`);
  const body = { user_id, notification_type: 'payment', description: 'For the guest' };
  await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
  await page.fill('[name=name]', user.username ?? '');
  await page.fill('[name=password]', password);
  await page.click('form button');
  await page.waitForFunction(`document.querySelector('output').value === '1 notifications are yours now.'`);
});
