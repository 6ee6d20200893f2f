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
