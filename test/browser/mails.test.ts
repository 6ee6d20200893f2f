import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logoId } from '../../src/messages/mail-html.js';
import { createTemplates } from '../../src/messages/templates.js';
import { launchBrowser } from '../support/browser.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** With ELEMENTS_PICTURES=1, the mails in all forms, into packages/elements/pictures/ (not in git). */
const folder = fileURLToPath(new URL('../../packages/elements/pictures', import.meta.url));
const takesPictures = process.env.ELEMENTS_PICTURES === '1';

const values = {
  ...{ code: '482913', minutes: '5', time: '2026-11-28 10:00 UTC', device: 'Firefox on Linux', address: '203.0.113.7' },
  ...{
    link: 'https://app.example.com/link#482913',
    console: 'https://app.example.com/console',
    host: 'hooks.example.com',
  },
  id: '019a3c5e-7f20-7c11-8f6e-3b1a4d5c6e7f',
};
const withoutStyle = (html: string) => html.replace(/<style>[\s\S]*<\/style>/, '');

/** What mail programs leave of a mail. */
const forms: readonly (readonly [
  name: string,
  theme: 'light' | 'dark',
  change: (html: string, image: string) => string,
])[] = [
  ['whole', 'light', (html, image) => html.replace(`cid:${logoId}`, image)],
  ['whole', 'dark', (html, image) => html.replace(`cid:${logoId}`, image)],
  ['no-style-element', 'light', (html, image) => withoutStyle(html).replace(`cid:${logoId}`, image)],
  ['no-style-element', 'dark', (html, image) => withoutStyle(html).replace(`cid:${logoId}`, image)],
  ['no-images', 'light', (html) => html.replace(`cid:${logoId}`, '')],
  ['no-images', 'dark', (html) => html.replace(`cid:${logoId}`, '')],
  [
    'attributes-only',
    'light',
    (html) =>
      withoutStyle(html)
        .replaceAll(/ (style|class)="[^"]*"/g, '')
        .replace(`cid:${logoId}`, ''),
  ],
];

test.each(['email.code_link', 'email.new_device', 'email.pin_recovery', 'email.webhook_gone'])(
  '%s can be read in each form that mail programs leave, at 600 and 360 px',
  async (kind) => {
    const picture = sharp({ create: { width: 240, height: 64, channels: 3, background: '#0f766e' } }).png();
    const png = await picture.toBuffer();
    const brand = { name: 'Splitter', color: '#0f766e', logo: { png, width: 240, height: 64 } };
    const image = `data:image/png;base64,${png.toString('base64')}`;
    for (const locale of ['en', 'es']) {
      const { html } = createTemplates({ brand, own: new Map() }).render(kind, locale, values);
      for (const [name, theme, change] of forms) {
        const page = await browser.newPage({ colorScheme: theme });
        await page.setContent(change(html, image));
        for (const width of [600, 360]) {
          await page.setViewportSize({ width, height: 800 });
          const state = [kind, locale, name, theme, width];
          expect([...state, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([...state, width]);
          if (!takesPictures) continue;
          await mkdir(folder, { recursive: true });
          await page.screenshot({
            path: `${folder}/mail-${kind.slice(6)}-${locale}-${name}-${theme}-${width}.png`,
            fullPage: true,
          });
        }
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
          "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] })",
        );
        expect(violations.map(({ id, nodes }) => [id, ...nodes.map((node) => node.html)])).toEqual([]);
        await page.close();
      }
    }
  },
);
