import { createHash } from 'node:crypto';
import type { Category } from '../../contract/category.js';
import { preferredLanguage } from '../../lib/language.js';
import type { NotificationRow } from '../inbox/row.js';
import { countText } from '../templates/count-text.js';
import { textFor } from '../templates/templates.js';
import type { PushContent } from './sender.js';

/**
 * The maximum number of bytes of JSON. Every push service accepts messages of 4096 bytes. The service's own fields and
 * the encryption of Web Push need some of them.
 */
const maxBytes = 3000;
/** The maximum number of characters of a title, and of its bytes: a character can consist of many code points. */
const maxTitle = 100;
const maxTitleBytes = 1200;

/** Finds the characters that a reader sees: an emoji of a family, or a letter with its accents, is one. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The content of a push about a notification. A text that does not fit is cut at its end. */
export function pushContent(row: NotificationRow): PushContent {
  const { id, notification_type, notification_key, sequence, actor } = row;
  const title =
    actor === null || actor === ''
      ? null
      : cut(actor, (text, length) => length <= maxTitle && Buffer.byteLength(text) <= maxTitleBytes);
  const content = (body: string) => ({ id, notification_type, notification_key, title, body, sequence });
  return content(cut(row.description, (text) => bytesOf(content(text)) <= maxBytes));
}

/** The title and the text of a push that summarizes several pushes of a category. */
export function collapsedTexts(
  { name, title }: Pick<Category, 'name' | 'title'>,
  count: number,
  locale: string | null,
) {
  const language = preferredLanguage(locale ?? undefined);
  return {
    actor: textFor(title, locale ?? language) ?? name,
    description: countText(count, language),
  };
}

/**
 * Identifies a push on a device: a later one with the same id replaces it. All notifications of a user with one `replace_key` have the
 * same.
 */
export function collapseIdOf({
  userId,
  notification_id: id,
  replace_key: replaceKey,
}: {
  readonly userId: string;
  readonly notification_id: string;
  readonly replace_key: string | null;
}): string {
  if (replaceKey === null) return id;
  const digest = createHash('sha256').update(`${userId} ${replaceKey}`).digest('hex');
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Cuts a text between characters, so that no part of a character is left. `fits` also gets the number of characters. */
function cut(text: string, fits: (text: string, length: number) => boolean): string {
  // A text has at most as many characters as code units, so most texts are not split.
  if (fits(text, text.length)) return text;
  const ends = Array.from(segmenter.segment(text), ({ segment, index }) => index + segment.length);
  if (fits(text, ends.length)) return text;
  let fitting = 0;
  let tooMany = ends.length;
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2);
    if (fits(`${text.slice(0, ends[middle - 1])}…`, middle)) fitting = middle;
    else tooMany = middle;
  }
  return `${text.slice(0, ends[fitting - 1] ?? 0)}…`;
}

const bytesOf = (content: PushContent) => Buffer.byteLength(JSON.stringify(content));
