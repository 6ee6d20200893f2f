import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeTo } from '../../support/account.js';
import { type ElementPages, startElementPages } from '../../support/elements.js';
import { withoutPart } from '../../support/gallery.js';
import { clipped, pseudoTexts, textsInLatin } from '../../support/pseudo-locale.js';
import { createUser, newEmail, newPhone, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages(
    { PIN_POLICY: 'optional', MAIL_PROVIDER: 'console', CODE_LIMIT_PER_ADDRESS: '0' },
    pseudoTexts,
  );
});
afterAll(() => pages?.close());

/** A visible English text: what its nearest `lang` says, and its direction. */
const englishTexts = `(() => {
  const walker = document.createTreeWalker(element.shadowRoot, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest('bdi, style') || !/[a-z]{3,}/.test(node.data)) continue;
    found.push([node.data, parent.closest('[lang]')?.lang ?? null, getComputedStyle(parent).direction]);
  }
  return found;
})()`;

test.each(['postern-sign-in', 'postern-inbox', 'postern-account', 'postern-preferences'])(
  'in %s, a text that a language lacks is marked as English from left to right, and a text of the language is not',
  async (tag) => {
    const user = await createUser(pages.app);
    const shared = { continue: 'متابعة', name: 'الاسم' };
    const texts = {
      ar: {
        shared,
        inbox: { inbox: 'الإشعارات' },
        account: { profile: 'الملف' },
        preferences: { channels: 'القنوات' },
      },
    };
    const login = tag === 'postern-sign-in' ? {} : { login: { identity: user.username ?? '', password } };
    const attributes = tag === 'postern-inbox' ? { layout: 'list' } : {};
    const { page } = await pages.show(tag, { lang: 'ar', dir: 'rtl', texts, attributes, ...login });
    const found = () => page.evaluate<[string, string | null, string][]>(englishTexts);
    await expect.poll(async () => (await found()).length).toBeGreaterThan(1);
    for (const [text, lang, direction] of await found()) expect([text, lang, direction]).toEqual([text, 'en', 'ltr']);
    const own =
      {
        ...{ 'postern-sign-in': 'متابعة', 'postern-inbox': 'الإشعارات' },
        ...{ 'postern-account': 'الملف', 'postern-preferences': 'القنوات' },
      }[tag] ?? '';
    await page.getByText(own, { exact: true }).first().waitFor();
    const nearest = `[...element.shadowRoot.querySelectorAll('*')].findLast((node) => node.textContent.trim() === '${own}').closest('[lang]')`;
    expect(await page.evaluate(nearest)).toBeNull();
  },
);

test.each([
  ['pl', 'ltr'],
  ['ar', 'rtl'],
] as const)('the dialogs of the account fit at 390 px in %s', async (lang, dir) => {
  const email = newEmail();
  const user = await createUser(pages.app, { name: 'Ada', email, phone: newPhone() });
  const login = { identity: user.username ?? '', password };
  const { page, expectAccessible } = await pages.show('postern-account', { lang, dir, width: 390, login });
  const dialog = page.getByRole('dialog');
  const look = async (step: string) => {
    expect([step, await page.evaluate(withoutPart)]).toEqual([step, []]);
    expect([step, await page.evaluate(clipped)]).toEqual([step, []]);
    if (lang === 'ar') expect([step, await page.evaluate(textsInLatin)]).toEqual([step, []]);
  };
  const open = async (key: string) => {
    await page.locator(`[data-key="${key}"]`).click();
    await dialog.waitFor();
    await look(key);
  };
  const submit = () => dialog.locator('button[type=submit]').click();
  for (const key of ['name', 'username', 'phone-remove', 'password', 'pin', 'passkey', 'delete']) {
    await open(key);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  }
  // A change with a proof, and the steps after it.
  await open('email');
  const address = newEmail();
  await dialog.locator('[name=email]').fill(address);
  await submit();
  await dialog.locator('[name=password]').fill('wrong');
  await look('proof');
  await submit();
  await dialog.getByRole('alert').filter({ hasText: /./ }).waitFor();
  await look('wrong proof');
  await dialog.locator('[name=password]').fill(password);
  await submit();
  await dialog.locator('[name=code]').waitFor();
  await look('code');
  await expectAccessible();
  await dialog.locator('[name=code]').fill(await codeTo(pages.app, address));
  await submit();
  await dialog.waitFor({ state: 'hidden' });
  await open('totp');
  await submit();
  // The proof of the former change may still count.
  await dialog.locator('[name=password], [part~=qr]').first().waitFor();
  if (await dialog.locator('[name=password]').isVisible()) {
    await dialog.locator('[name=password]').fill(password);
    await submit();
  }
  await dialog.locator('[part~=qr]').waitFor();
  await look('app');
});
