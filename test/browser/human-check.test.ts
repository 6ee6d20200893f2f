// The human check in a browser, with the files of the packed client.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Postern } from '../../packages/client/src/index.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { type PackedProject, packProject } from '../support/packed.js';
import { newEmail } from '../support/users.js';

// Defined by the code of the page, in the browser.
declare const window: {
  postern: Postern;
  begin: (identity: string) => Promise<string>;
  longest: () => number;
};

const script = `
  import { createLogin, createPostern, memoryStorage } from '/client/index.js';
  const postern = createPostern({ url: new URLSearchParams(location.search).get('url'), storage: memoryStorage(), timeout: 60_000 });
  let longest = 0;
  let seen = performance.now();
  setInterval(() => {
    longest = Math.max(longest, performance.now() - seen);
    seen = performance.now();
  }, 1);
  Object.assign(window, {
    longest: () => longest,
    begin: async (identity) => (await createLogin(postern).start().email({ identity })).step,
  });
`;
const policies: Record<string, string> = {
  worker: "worker-src 'self'",
  refused: "worker-src 'none'",
};

let app: TestApp;
let browser: Browser;
let project: PackedProject;
let origin: string;
let close: () => void;
beforeAll(async () => {
  project = await packProject(['client']);
  const pages = express();
  pages.use('/client', express.static(`${project.folder}/node_modules/@postern/client/dist`));
  pages.get('/page.js', (_, response) => void response.type('js').send(script));
  pages.get('/:name', (asked, response) => {
    response.set('content-security-policy', `script-src 'self'; ${policies[asked.params.name]}`);
    response.send('<!doctype html><title>App</title><script type="module" src="/page.js"></script>');
  });
  const server = createServer(pages);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => server.close();
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const mail = { MAIL_PROVIDER: 'console', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' };
  app = await startTestApp({ HUMAN_CHECK: 'altcha', CORS_ORIGINS: origin, ...mail });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await project?.remove();
  close?.();
});

/** Opens a page. @returns it, with the files of the check that it has requested */
async function open(name: string): Promise<{ readonly page: Page; readonly files: string[] }> {
  const page = await browser.newPage();
  const files: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.includes('/human-check/')) files.push(pathname.split('/').at(-1) ?? '');
  });
  await page.goto(`${origin}/${name}?url=${encodeURIComponent(app.url)}`);
  await page.waitForFunction(() => 'begin' in window);
  return { page, files };
}

test('a worker solves the challenge, whose file is loaded only then, and the page stays alive', async () => {
  const { page, files } = await open('worker');
  const started = page.waitForEvent('worker');
  expect(files).toEqual([]);
  expect(page.workers()).toEqual([]);
  const step = page.evaluate((identity) => window.begin(identity), newEmail());
  expect((await started).url()).toContain('/client/human-check/human-check-worker.js');
  expect(await step).toBe('code');
  expect(files).toContain('human-check-worker.js');
  await expect.poll(() => page.workers().length).toBe(0);
  await page.close();
});

test('a page whose policy allows no worker solves the challenge in slices', async () => {
  const { page } = await open('refused');
  expect(await page.evaluate((identity) => window.begin(identity), newEmail())).toBe('code');
  expect(page.workers()).toEqual([]);
  expect(await page.evaluate(() => window.longest())).toBeLessThan(1000);
  await page.close();
});
