import axe from 'axe-core';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { createAdministration } from './administration.js';
import type { TestApp } from './app.js';
import { createConsole } from './console.js';
import { eventually } from './eventually.js';

type Operator = Awaited<ReturnType<ReturnType<typeof createConsole>['operator']>>;

export interface PageOptions {
  /** Who is signed in. Nobody: the sign-in page. */
  readonly as?: Operator | undefined;
  readonly width?: 1280 | 390;
  readonly theme?: 'light' | 'dark';
  readonly language?: 'en' | 'es';
}

/** A page of the console in a browser of its own, with what must not happen on any page. */
export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Waits until the page has the answers to its requests, and has shown them. */
  settled(): Promise<void>;
  /** Fails if the page reported a violation of its content security policy or an error, or can be scrolled sideways. */
  expectNoErrorsOrSidewaysScroll(): Promise<void>;
  /** Fails with the findings of axe-core: WCAG 2.0 to 2.2 AA, and best practices. `rules`: only these. */
  expectAccessible(rules?: readonly string[]): Promise<void>;
}

/** Sizes of screens that the console is made for. */
export const heights = { 1280: 800, 390: 844 };

/** Opens pages of the console in a browser, as operators of the service. The end of the test closes them. */
export function createConsolePages(current: () => TestApp, browser: () => Browser) {
  const { admin } = createAdministration(current);
  const console = createConsole(current);

  async function open(path: string, options: PageOptions = {}): Promise<ConsolePage> {
    const { as, width = 1280, theme = 'light', language = 'en' } = options;
    const context = await browser().newContext({
      ...{ viewport: { width, height: heights[width] }, colorScheme: theme, locale: language },
      reducedMotion: 'reduce',
    });
    // Pages that stay open would send further requests, and slow down later tests.
    onTestFinished(() => context.close());
    const cookies = [...(as?.browser.cookies ?? [])];
    const { hostname: domain } = new URL(current().url);
    await context.addCookies(
      cookies.map(([name, value]) => ({ name, value, domain, path: '/', httpOnly: true, sameSite: 'Strict' })),
    );
    const page = await context.newPage();
    const faults = watch(page);
    const settled = watchRequests(page);
    await page.goto(`${current().url}${path}`);
    await page.waitForSelector('h1', { state: 'attached' });
    return {
      ...{ page, context, settled },
      async expectNoErrorsOrSidewaysScroll() {
        expect(faults).toEqual([]);
        const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
        expect(content).toBeLessThanOrEqual(window ?? 0);
      },
      async expectAccessible(rules) {
        // Makes the viewport as high as the page. Otherwise the bars of a phone would cover a part of the page.
        const size = page.viewportSize() ?? { width, height: heights[width] };
        const height = await page.evaluate<number>('document.documentElement.scrollHeight');
        await page.setViewportSize({ width: size.width, height: Math.max(height, size.height) });
        if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source);
        const options = { runOnly: rules ?? standard, resultTypes: ['violations'], preload: false };
        const found = await page.evaluate<Findings>(`axe.run(document, ${JSON.stringify(options)})`);
        const violations = found.violations.map(({ id, nodes }) => [
          id,
          ...nodes.map(({ html }) => html.slice(0, 200)),
        ]);
        expect(violations).toEqual([]);
        await page.setViewportSize(size);
      },
    };
  }

  return {
    ...{ open, admin },
    /** A new person with a role, who can sign in. */
    operator: console.operator,
    /** The secret of a new set-up link. */
    setUpLink: console.link,
    /** The current code of the app whose key a page shows. */
    codeFor: (base32: string) => console.codeOf({ id: '', expires_at: '', totp: { secret: base32, uri: '' } }),
  };
}

const standard = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

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

/** @returns waits until no request but streams is open, also after the page has shown the last answer */
function watchRequests(page: Page): () => Promise<void> {
  const pending = new Set<Request>();
  const isStream = (request: Request) => request.url().includes('/stream');
  page.on('request', (request) => void (!isStream(request) && pending.add(request)));
  page.on('requestfinished', (request) => void pending.delete(request));
  page.on('requestfailed', (request) => void pending.delete(request));
  // An answer may lead to another request: two frames later, the page has sent it.
  const frames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))';
  return () =>
    eventually('the answers to all requests', async () => {
      if (pending.size > 0) return undefined;
      await page.evaluate(frames);
      return pending.size === 0 || undefined;
    }).then(() => undefined);
}
