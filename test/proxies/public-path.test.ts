import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { createConsole } from '../support/console.js';
import { freePort } from '../support/free-port.js';
import { startPathProxy } from '../support/proxies.js';
import { createUser, password } from '../support/users.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe.each([
  ['nginx', 'keeps', false],
  ['nginx', 'removes', true],
  ['Caddy', 'keeps', false],
  ['Caddy', 'removes', true],
] as const)('behind %s, which %s the path of PUBLIC_URL', (name, _, removesPath) => {
  test('an operator opens the root, signs in, opens pages, reloads one and follows a link to it', async () => {
    const proxyPort = await freePort();
    const origin = `http://127.0.0.1:${proxyPort}`;
    const postern = await startTestApp({ PUBLIC_URL: `${origin}/auth`, LOGIN_LIMIT_PER_ADDRESS: '0' });
    onTestFinished(() => postern.close());
    const proxy = await startPathProxy(name, removesPath, {
      posternPort: Number(new URL(postern.url).port),
      proxyPort,
    });
    onTestFinished(() => proxy.stop());
    const person = await createConsole(() => postern).operator();
    const user = await createUser(postern, { name: 'Kanako' });
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('response', (response) => {
      if (response.status() === 404 || !response.url().startsWith(`${origin}/auth`)) faults.push(response.url());
    });
    await page.goto(`${origin}/auth/`);
    await page.getByLabel('Mail address, username or phone').fill(person.username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await person.app.rewind();
    await page.getByLabel('6-digit code').fill(await person.app.code());
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/auth/console');
    await page.getByRole('link', { name: 'Users' }).first().click();
    await page.getByText('Kanako').first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/auth/console/users');
    await page.goto(`${origin}/auth/console/users/${user.id}`);
    await page.getByRole('heading', { name: 'Kanako', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Kanako', level: 1 }).waitFor();
    expect(faults).toEqual([]);
  });
});
