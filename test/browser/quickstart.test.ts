import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fencesOf, root } from '../docs/markdown.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser, servePage } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import { BUILD_TIMEOUT } from '../support/process.js';
import { openPublicAddress, type PublicAddress } from '../support/public-address.js';
import { startVendor, type Vendor } from '../support/vendor.js';

const run = promisify(execFile);
const fences = fencesOf('docs/quickstart.md');

let folder: string;
let site: ViteDevServer;
let origin: string;
let app: TestApp;
let vendor: Vendor;
let address: PublicAddress;
let browser: Browser;
let output: string;
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'postern-quickstart-')), 'my-app');
  await mkdir(folder);
  const sitePort = await freePort();
  origin = `http://localhost:${sitePort}`;
  vendor = await startVendor();
  address = await openPublicAddress();
  app = await startTestApp({
    ...{ CORS_ORIGINS: origin, REGISTRATION: 'on', PIN_POLICY: 'off', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    ...{ PUBLIC_URL: address.url, REDIRECT_URIS: `${origin}/,${origin}/react.html` },
    OIDC_PROVIDERS: JSON.stringify({
      google: { preset: 'google', issuer: vendor.url, client_id: 'ours', sign_up: true },
    }),
  });
  address.service = app.url;
  const { port, close } = await servePage();
  await close();
  output = await follow(`${port}`);
  // After the files of the pages: Vite looks for their packages when it starts. Otherwise it finds the packages while a page
  // loads, and then loads the page again, which empties its form.
  site = await createServer({
    ...{ configFile: false, logLevel: 'error', root: folder, cacheDir: join(folder, '.vite') },
    // What it adds to JSX.
    optimizeDeps: { include: ['react/jsx-dev-runtime'] },
    server: { port: sitePort, strictPort: true, host: 'localhost', fs: { strict: false } },
  });
  await site.listen();
  browser = await launchBrowser();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await app?.close();
  address?.close();
  await vendor?.close();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

/** Writes the files of the page, runs its commands in one shell, and installs React. @returns what the commands print */
async function follow(backendPort: string): Promise<string> {
  for (const { text } of fences) {
    const [, name] = /^(?:\/\/|<!--) (\w+\.\w+)/.exec(text) ?? [];
    const code = text.replaceAll('http://127.0.0.1:8080', address.url).replaceAll('3001', backendPort);
    // The name of the file is for the reader, and a document begins with its type.
    if (name !== undefined) await writeFile(join(folder, name), code.replace(/^<!--.*-->\n/, ''));
  }
  const commands = fences.flatMap(({ language, text }) => (language === 'sh' ? [text] : [])).join('\n');
  const script = commands.replaceAll('../my-app', folder).replaceAll('3001', backendPort);
  const npm = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  const env = { PATH: process.env.PATH ?? '', HOME: folder, BASE: address.url, KEY: app.adminKey, ...npm };
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env, timeout: 360_000 });
  for (const name of ['react', 'react-dom', 'scheduler']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const hooks = join(folder, 'node_modules/@postern/react');
  await mkdir(hooks);
  const packed = (await readdir(folder)).find((name) => name.startsWith('postern-react-')) ?? '';
  await run('tar', ['xzf', join(folder, packed), '-C', hooks, '--strip-components=1']);
  return stdout;
}

async function open(path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(origin + path);
  return page;
}

test('the commands create a user, install the packages, and the backend knows who calls it', () => {
  const [user = ''] = output.match(/^[0-9a-f-]{36}$/m) ?? [];
  expect(output).toContain(`You are ${user}.\nLog in first.\n`);
});

test('the page logs in, shows the notification and the devices, and a second tab follows', async () => {
  const page = await open('/');
  await page.getByLabel('Email, phone or username').fill('ada.lovelace');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill('a battery of horses');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await page.locator('postern-inbox button').first().click();
  await page.getByText('Grace paid you 12.50').waitFor();
  const other = await page.context().newPage();
  await other.goto(origin);
  await other.getByText('You are signed in.').waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await other.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
});

test('the page in React works like the page without it', async () => {
  const page = await open('/react.html');
  await page.getByLabel('Name').fill('ada.lovelace');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/\w/);
  // React empties a form after its action.
  await expect.poll(() => page.getByLabel('Password').inputValue()).toBe('');
  await page.getByLabel('Name').fill('ada.lovelace');
  await page.getByLabel('Password').fill('a battery of horses');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Grace paid you 12.50').waitFor();
  await page.getByText(/^You are signed in on \d device/).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Password').waitFor();
});

test.each(['/', '/react.html'])('with a provider, the page %s sends people there and back', async (path) => {
  const email = `${randomUUID()}@gmail.com`;
  vendor.account = { sub: randomUUID(), email, email_verified: true };
  const page = await open(path);
  await page.getByRole('button', { name: 'Continue with Google' }).click();
  await page.waitForURL((url) => url.origin === vendor.url);
  await page.click('a');
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().waitFor();
  expect(page.url()).toBe(origin + path);
});
