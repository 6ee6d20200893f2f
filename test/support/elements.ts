import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { expect } from 'vitest';
import { startTestApp, type TestApp } from './app.js';
import { launchBrowser } from './browser.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sourceOf = (path: string) => join(root, 'packages', path);

export interface ShowOptions {
  readonly attributes?: Readonly<Record<string, string>>;
  readonly properties?: object;
  readonly login?: { readonly identity: string; readonly password: string };
  readonly texts?: object;
  /** Content of a slot, such as `locked=Call us`. */
  readonly slots?: string;
  readonly lang?: string;
  readonly dir?: 'ltr' | 'rtl';
  readonly width?: 1280 | 390;
  readonly theme?: 'light' | 'dark';
  readonly context?: BrowserContext;
}

/** An element in a page of its own. */
export interface ElementPage {
  readonly page: Page;
  /** Waits until an expression is true in the page. The page's policy forbids `waitForFunction`, which calls `eval`. */
  until(expression: string): Promise<void>;
  /** Fails if the page reported a violation of its policy, an error or a warning, or can be scrolled sideways. */
  expectNoErrorsOrSidewaysScroll(): Promise<void>;
  /** Fails with the findings of axe-core: WCAG 2.0 to 2.2 AA, and best practices. */
  expectAccessible(): Promise<void>;
  /** The details of the events of a type so far. */
  events(type: string): Promise<unknown[]>;
}

/** A service, and an origin whose pages can show elements under a strict content security policy. Each page has a function `show`. */
export interface ElementServer {
  readonly app: TestApp;
  readonly origin: string;
  close(): Promise<void>;
}

/** The same with a browser. */
export interface ElementPages extends ElementServer {
  readonly browser: Browser;
  show(tag: string, options?: ShowOptions): Promise<ElementPage>;
}

const style = `html { font-family: system-ui, sans-serif; color-scheme: light dark; background: light-dark(#f5f4f0, #10100f);
  color: light-dark(#1b1a17, #eeede8); } body { margin: 0; } main { padding: 24px; min-height: 90vh; }`;
const html = (lang: string, dir: string) =>
  `<!doctype html><html lang="${lang}" dir="${dir}"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/page.css"><link rel="icon" href="/icon.svg">
<script type="module" src="/page.js"></script></head><body><main><h1 hidden>A page</h1></main></body></html>`;

/** The settings of the service, which may depend on the origin of the pages. */
export type Settings = Readonly<Record<string, string>> | ((origin: string) => Readonly<Record<string, string>>);

export async function serveElements(env: Settings = {}): Promise<ElementServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-elements-'));
  await build({
    ...{ configFile: false, logLevel: 'silent', root },
    resolve: {
      alias: [
        { find: '@postern/client/internal', replacement: sourceOf('client/src/internal.ts') },
        { find: '@postern/client', replacement: sourceOf('client/src/index.ts') },
        { find: '@postern/elements', replacement: sourceOf('elements/src/index.ts') },
      ],
    },
    build: {
      ...{ outDir: folder, minify: false, modulePreload: false, target: 'es2022' },
      rollupOptions: {
        input: { page: join(root, 'test/support/element-page.mjs') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
  const scripts = new Map<string, string>();
  const built = await readdir(folder, { recursive: true });
  for (const name of built.filter((path) => path.endsWith('.js')))
    scripts.set(`/${name}`, await readFile(join(folder, name), 'utf8'));
  await rm(folder, { recursive: true });

  let service = '';
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    // With this prefix, a browser loads every module a second time.
    const script = scripts.get(url.pathname.replace(/^\/again\//, '/'));
    const policy = [
      "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      `img-src 'self' ${service}; connect-src 'self' ${service}; require-trusted-types-for 'script'; trusted-types 'none'`,
    ];
    response.setHeader('content-security-policy', policy.join('; '));
    if (script !== undefined) response.setHeader('content-type', 'text/javascript').end(script);
    else if (url.pathname === '/page.css') response.setHeader('content-type', 'text/css').end(style);
    else if (url.pathname === '/icon.svg')
      response.setHeader('content-type', 'image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>');
    else {
      const { lang = 'en', dir = 'ltr' } = Object.fromEntries(url.searchParams);
      response.setHeader('content-type', 'text/html').end(html(lang, dir));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  const app = await startTestApp({
    ...{ PASSKEY_RP_ID: 'localhost', PASSKEY_ORIGINS: origin, CORS_ORIGINS: origin, LOGIN_LIMIT_PER_ADDRESS: '0' },
    ...(typeof env === 'function' ? env(origin) : env),
  });
  service = app.url;
  return {
    ...{ app, origin },
    async close() {
      await app.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** @param texts the option `texts` of the elements in each page that has no other */
export async function startElementPages(env: Settings = {}, texts?: object): Promise<ElementPages> {
  const { app, origin, close } = await serveElements(env);
  const browser = await launchBrowser();

  async function show(tag: string, options: ShowOptions = {}): Promise<ElementPage> {
    const { lang = 'en', dir = 'ltr', width = 1280, theme = 'light', context, ...rest } = options;
    const own =
      context ??
      (await browser.newContext({
        ...{ viewport: { width, height: width === 1280 ? 800 : 844 }, colorScheme: theme, locale: 'en-US' },
        reducedMotion: 'reduce',
      }));
    const page = await own.newPage();
    const faults = watch(page);
    await page.goto(`${origin}/?lang=${lang}&dir=${dir}`);
    const until = (expression: string) =>
      expect.poll(() => page.evaluate<unknown>(expression), { message: expression }).toBeTruthy();
    await until('typeof show === "function"');
    await page.evaluate(`show(${JSON.stringify({ url: app.url, tag, texts, ...rest })})`);
    await until('events.some(([type]) => type === "ready")');
    return {
      ...{ page, until },
      async expectNoErrorsOrSidewaysScroll() {
        expect(faults).toEqual([]);
        const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
        expect(content).toBeLessThanOrEqual(window ?? 0);
      },
      async expectAccessible() {
        await page.evaluate(axe.source);
        const found = await page.evaluate<Findings>(
          `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
            rules: { 'page-has-heading-one': { enabled: false } } })`,
        );
        const violations = found.violations.map(({ id, nodes }) => [
          id,
          ...nodes.map(({ html }) => html.slice(0, 300)),
        ]);
        expect(violations).toEqual([]);
      },
      events: (type) => page.evaluate(`events.filter(([own]) => own === ${JSON.stringify(type)}).map(([, d]) => d)`),
    };
  }

  return {
    ...{ app, browser, origin, show },
    async close() {
      await browser.close();
      await close();
    },
  };
}

interface Findings {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What the page reports. A refusal of the service is no fault of the page, but browsers report it as one. */
function watch(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    const isReport = ['error', 'warning'].includes(message.type());
    if (isReport && !message.text().startsWith('Failed to load resource')) faults.push(message.text());
  });
  return faults;
}
