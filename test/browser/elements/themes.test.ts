import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ElementPages, startElementPages } from '../../support/elements.js';
import { createUser, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'off', MAIL_PROVIDER: 'console' });
});
afterAll(() => pages?.close());

/** The style sheets of docs/elements.md that define a theme. */
async function themes(): Promise<[name: string, css: string][]> {
  const page = await readFile(new URL('../../../docs/elements.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```css\n(\.(\w+) \{.*?)^```$/gms)];
  return blocks.map(([, css = '', name = '']) => [name, css]);
}

test('the three themes of docs/elements.md change every element, with enough contrast', async () => {
  const user = await createUser(pages.app);
  const { adminKey: bearer, api } = pages.app;
  const body = { user_id: user.id, notification_type: 'payment', actor: 'Ada', description: 'Paid' };
  await api('POST', '/admin/v1/notifications', { bearer, body });
  const all = await themes();
  expect(all).toHaveLength(3);
  const colours = new Set<string>();
  for (const [name, css] of all) {
    for (const [tag, text, part] of [
      ['postern-inbox', 'Paid', 'panel'],
      ['postern-account', 'Profile', 'row'],
      ['postern-sign-in', 'Other ways to sign in', 'card'],
    ] as const) {
      const login = tag === 'postern-sign-in' ? {} : { login: { identity: user.username ?? '', password } };
      const shown = await pages.show(tag, { ...login, attributes: tag === 'postern-inbox' ? { open: '' } : {} });
      const { page } = shown;
      await page.evaluate(`{
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(${JSON.stringify(css)});
        document.adoptedStyleSheets = [sheet];
        document.querySelector('main').className = '${name}';
      }`);
      await page.getByText(text).first().waitFor();
      const style = `getComputedStyle(element.shadowRoot.querySelector('[part~=${part}]'))`;
      colours.add(`${tag} ${await page.evaluate<string>(`${style}.color`)}`);
      await shown.expectAccessible();
      await shown.expectNoErrorsOrSidewaysScroll();
    }
  }
  expect(colours.size).toBe(9);
});

/** The contrast of two colours as browsers write them, by WCAG 2. */
function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [one, other]
    .map((colour) => {
      const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((value) => {
        const share = Number(value) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

test('the outlines of controls have a contrast of 3:1 in both colour schemes and in the themes, and lines have another colour', async () => {
  const styles: [name: string, css: string][] = [['', ''], ...(await themes())];
  for (const [name, css] of styles) {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await pages.show('postern-sign-in', { theme });
      await page.getByRole('button', { name: 'Other ways to sign in' }).click();
      await page.evaluate(`{
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(${JSON.stringify(css)});
        document.adoptedStyleSheets = [sheet];
        document.querySelector('main').className = '${name}';
      }`);
      const colourOf = (selector: string, property: string) =>
        page.evaluate<string>(`getComputedStyle(element.shadowRoot.querySelector('${selector}')).${property}`);
      const ground = await colourOf('[part~=card]', 'backgroundColor');
      for (const control of ['[part~=input]', '#others [part~=button]']) {
        const outline = await colourOf(control, 'borderTopColor');
        expect([name, theme, control, contrast(outline, ground) >= 3]).toEqual([name, theme, control, true]);
      }
      const line = await colourOf('[part~=card]', 'borderTopColor');
      if (name === '') expect(contrast(line, ground)).toBeLessThan(3);
      await page.close();
    }
  }
});
