import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Route } from 'playwright-core';
import { expect } from 'vitest';
import type { ElementPage } from './elements.js';
import { clipped, textsInLatin } from './pseudo-locale.js';

/**
 * Every state of every element, at 1280 and 390 px, light and dark, from right to left, and with text of twice the size. Each is checked
 * with axe-core. `npm run elements:gallery` also takes the pictures, into packages/elements/pictures/ (not in git).
 */
const folder = fileURLToPath(new URL('../../packages/elements/pictures', import.meta.url));
const takesPictures = process.env.ELEMENTS_PICTURES === '1';

const variants = [
  { name: '1280-light', width: 1280, theme: 'light', dir: 'ltr', size: '100%' },
  { name: '1280-dark', width: 1280, theme: 'dark', dir: 'ltr', size: '100%' },
  { name: '390-light', width: 390, theme: 'light', dir: 'ltr', size: '100%' },
  { name: '390-dark', width: 390, theme: 'dark', dir: 'ltr', size: '100%' },
  { name: '1280-rtl', width: 1280, theme: 'light', dir: 'rtl', size: '100%' },
  { name: '390-double', width: 390, theme: 'light', dir: 'ltr', size: '200%' },
] as const;

/**
 * Finds what is drawn without a part, so that a page cannot style it: a text, a picture, a control, a background or a border. A `bdi`, a
 * slot or a text in another language is drawn as the node around it.
 */
export const withoutPart = `[...element.shadowRoot.querySelectorAll('*')].flatMap((node) => {
  const { width, height } = node.getBoundingClientRect();
  if (!node.checkVisibility({ visibilityProperty: true }) || node.closest('.sr-only') || (node.closest('svg') ?? node) !== node) return [];
  let owner = node;
  while (owner.matches('bdi, slot, span:not([class])') && owner.part.length === 0) owner = owner.parentElement ?? owner;
  if (owner.part.length > 0 || owner === element) return [];
  const style = getComputedStyle(node);
  const hasText = [...node.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
  const isControl = node.matches('svg, img, input, button, a, dialog');
  const isFilled = width > 1 && height > 1 && style.backgroundColor !== 'rgba(0, 0, 0, 0)';
  const hasBorder = ['Top', 'Left'].some((side) => parseFloat(style['border' + side + 'Width']) > 0 && !style['border' + side + 'Color'].endsWith(', 0)'));
  return hasText || isControl || isFilled || hasBorder ? [node.cloneNode().outerHTML + ' ' + node.textContent.slice(0, 40)] : [];
})`;

/** The fields whose text a button covers. */
const covered = `[...element.shadowRoot.querySelectorAll('.control button')].flatMap((button) => {
  const input = button.parentElement.querySelector('input');
  const [own, field, style] = [button.getBoundingClientRect(), input.getBoundingClientRect(), getComputedStyle(input)];
  const [left, right] = [field.left + parseFloat(style.paddingLeft), field.right - parseFloat(style.paddingRight)];
  return own.width > 0 && own.right > left && own.left < right ? [input.name] : [];
})`;

/** Looks at a state in each variant. */
export async function look(name: string, shown: ElementPage): Promise<void> {
  const { page } = shown;
  expect(await page.evaluate(withoutPart)).toEqual([]);
  await expectKeyboard(shown);
  if (takesPictures) await mkdir(folder, { recursive: true });
  for (const { name: variant, width, theme, dir, size } of variants) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: width === 1280 ? 800 : 844 });
    await page.evaluate(`document.documentElement.dir = '${dir}', document.documentElement.style.fontSize = '${size}'`);
    if (takesPictures) await page.screenshot({ path: `${folder}/${name}-${variant}.png`, fullPage: true });
    await shown.expectAccessible();
    const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
    expect([variant, content]).toEqual([variant, window]);
    expect([variant, await page.evaluate(covered)]).toEqual([variant, []]);
  }
  await page.evaluate(`document.documentElement.dir = 'ltr', document.documentElement.style.fontSize = ''`);
  await expectNames(shown);
  await expectLanguages(name, shown);
}

/** Controls that the keyboard reaches, in the open dialog if there is one. */
const controls = `[...(element.shadowRoot.querySelector('dialog[open], [popover]:popover-open') ?? element.shadowRoot).querySelectorAll(
  'button:enabled, a[href], input:enabled:not([tabindex="-1"]), select:enabled')].filter((node) => node.checkVisibility({ visibilityProperty: true }))`;

/** Goes through a state with the Tab key: each control is reached, in the order of the page, and shows that it has the focus. */
async function expectKeyboard({ page }: ElementPage): Promise<void> {
  const count = await page.evaluate<number>(`(globalThis.controls = ${controls}).length`);
  await page.evaluate('controls[0]?.focus()');
  // The browser then knows that the keyboard is in use.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  const reached = new Set<number>();
  for (let step = 0; step < count; step += 1) {
    const focused = 'controls.indexOf(element.shadowRoot.activeElement)';
    const outline = 'getComputedStyle(element.shadowRoot.activeElement ?? element).outlineStyle';
    const [index = -1, style] = await page.evaluate<[number, string]>(`[${focused}, ${outline}]`);
    expect([step, index, style]).toEqual([step, step, 'solid']);
    reached.add(index);
    await page.keyboard.press('Tab');
  }
  expect(reached.size).toBe(count);
}

/** What a screen reader says: no control, heading or dialog is without a name. */
async function expectNames({ page }: ElementPage): Promise<void> {
  const tree = await page.locator('main').ariaSnapshot();
  const role = /^\s*- (?:button|link|textbox|checkbox|switch|heading|dialog|img|region)(?:$|:| \[)/;
  expect(tree.split('\n').filter((line) => role.test(line))).toEqual([]);
}

/**
 * Shows a state in the two languages of pseudo-locale.ts, at 390 px: nothing is cut off or wider than the window, and each text is in the
 * language. An open dialog keeps its language, so pseudo-locale.test.ts looks at dialogs.
 */
async function expectLanguages(name: string, shown: ElementPage): Promise<void> {
  const { page } = shown;
  if (await page.evaluate('element.shadowRoot.querySelector("dialog[open]") !== null')) return;
  for (const [language, dir] of [
    ['pl', 'ltr'],
    ['ar', 'rtl'],
  ] as const) {
    await page.evaluate(`document.documentElement.dir = '${dir}', element.lang = '${language}'`);
    const isShown =
      language === 'ar' ? textsInLatin : `/ąą|ęę|óó|úú/.test(element.shadowRoot.textContent) ? [] : ['not yet']`;
    await expect.poll(() => page.evaluate(isShown), { message: `${name} in ${language}` }).toEqual([]);
    if (takesPictures) await page.screenshot({ path: `${folder}/${name}-390-${language}.png`, fullPage: true });
    expect([language, await page.evaluate(clipped)]).toEqual([language, []]);
    const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
    expect([language, content]).toEqual([language, window]);
  }
}

/** An answer of the service, with a sentence that no page may show. */
export const problem =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  (route: Route) =>
    route.fulfill({
      ...{ status, headers: { ...headers, 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' } },
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: `urn:postern:problem:${code}`, title: 'A sentence of the service.', errors: [] }),
    });

/** By the pattern of an address. */
export type Answers = Readonly<Record<string, (route: Route) => unknown>>;

/** A context whose requests to the service can be answered by the test. */
export async function contextOf(browser: Browser, answers: Answers = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  await context.exposeFunction('idTokenFor', () => null);
  for (const [pattern, answer] of Object.entries(answers)) await context.route(pattern, (route) => void answer(route));
  return context;
}
