import { english as activity } from '../../packages/elements/src/account/activity-texts.js';
import { english as proofs } from '../../packages/elements/src/account/dialog-texts.js';
import { english as account } from '../../packages/elements/src/account/texts.js';
import { english as errors } from '../../packages/elements/src/base/error-texts.js';
import { english as shared } from '../../packages/elements/src/base/form-texts.js';
import { english as items } from '../../packages/elements/src/inbox/item-texts.js';
import { english as inboxList } from '../../packages/elements/src/inbox/list-texts.js';
import { english as pushes } from '../../packages/elements/src/inbox/push-texts.js';
import { english as inbox } from '../../packages/elements/src/inbox/texts.js';
import { english as preferences } from '../../packages/elements/src/preferences/texts.js';
import { english as enrolment } from '../../packages/elements/src/sign-in/enrolment-texts.js';
import { english as later } from '../../packages/elements/src/sign-in/later-texts.js';
import { english as signIn } from '../../packages/elements/src/sign-in/texts.js';

/**
 * Texts of two languages that nobody speaks, made from the English ones: a long one, under the tag of Polish, and one that runs from
 * right to left, under the tag of Arabic. A text that is not in them, or that a plural has no form for, is found by its letters.
 */
const arabicLetters = 'ابتثجحخدذرزسشصضطظعغفقكلمنهو';

/** Changes what is outside of braces. */
const outside = (text: string, change: (part: string) => string) =>
  text
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith('{') ? part : change(part)))
    .join('');
/** Two fifths longer, as German and Finnish texts are, with accents. */
const long = (text: string) =>
  outside(text, (part) =>
    part.replace(/[aeou]/g, (letter) => ({ a: 'ąą', e: 'ęę', o: 'óó', u: 'úú' })[letter] ?? letter),
  );
const mirrored = (text: string) =>
  outside(text, (part) =>
    part.replace(/[A-Za-z]/g, (letter) => arabicLetters[letter.toLowerCase().charCodeAt(0) - 97] ?? letter),
  );

type Table = Readonly<Record<string, string>>;
const tableOf = (table: Table, language: string, change: (text: string) => string): Table => {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  return Object.fromEntries(
    Object.entries(table).map(([key, text]) => {
      const forms = text.split('|');
      const last = forms.at(-1) ?? text;
      // Each form of a plural is the English one for many.
      return [key, forms.length > 1 ? pluralCategories.map(() => change(last)).join('|') : change(text)];
    }),
  );
};
const tablesOf = (language: string, change: (text: string) => string) => ({
  shared: tableOf({ ...shared, ...errors }, language, change),
  'sign-in': tableOf({ ...signIn, ...later, ...enrolment }, language, change),
  account: tableOf({ ...account, ...activity, ...proofs }, language, change),
  preferences: tableOf(preferences, language, change),
  inbox: tableOf({ ...inbox, ...inboxList, ...pushes, ...items }, language, change),
});

/** The option `texts` of the elements. */
export const pseudoTexts = { pl: tablesOf('pl', long), ar: tablesOf('ar', mirrored) };

/**
 * Texts in the shadow root that are in no language of the page: English ones, without what users, devices and providers are called.
 * Evaluate it in a page with the texts of Arabic.
 */
export const textsInLatin = `(() => {
  const walker = document.createTreeWalker(element.shadowRoot, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest('bdi, code, .codes, [part~=button-provider], time, .item, .pushes label, option')) continue;
    if (/[A-Za-z]{3,}/.test(node.data.replace(/\\S*[@…]\\S*|user\\d+|Google|GitHub|The Attic/g, ''))) found.push(node.data);
  }
  return found;
})()`;

/** What is cut off, or lies outside of the window. A line that users and notices fill may end with an ellipsis. */
export const clipped = `[...element.shadowRoot.querySelectorAll('*')].flatMap((node) => {
  if (!node.checkVisibility({ visibilityProperty: true }) || node.closest('.sr-only, svg, .chosen bdi, .text.short, .thumbnail, input')) return [];
  const style = getComputedStyle(node);
  const { left, right, width } = node.getBoundingClientRect();
  const isCut = style.overflowX !== 'visible' && node.scrollWidth > node.clientWidth + 1;
  const isOutside = width > 0 && (left < -0.5 || right > innerWidth + 0.5);
  const isWiderThanItsBox = style.display !== 'inline' && style.display !== 'contents' && node.scrollWidth > Math.ceil(width) + 1;
  return isCut || isOutside || isWiderThanItsBox ? [node.cloneNode().outerHTML + ' ' + node.textContent.slice(0, 40)] : [];
})`;
