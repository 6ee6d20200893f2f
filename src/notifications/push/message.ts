import type { NotificationRow } from '../row.js';
import type { PushContent } from './sender.js';

/** Bytes of JSON. Every service takes 4096 with its own envelope; Web Push encrypts some of that away. */
const maxBytes = 3000;
const maxTitle = 100;

/** What a push says of a notification. Whatever does not fit is cut from the end of the text. */
export function pushContent(row: NotificationRow): PushContent {
  const { id, notification_type, notification_key, sequence, actor } = row;
  const title = actor === null || actor === '' ? null : cut([...actor], maxTitle);
  const content = (body: string) => ({ id, notification_type, notification_key, title, body, sequence });
  if (bytesOf(content(row.description)) <= maxBytes) return content(row.description);
  const characters = [...row.description];
  let fits = 0;
  let tooMany = characters.length;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (bytesOf(content(cut(characters, middle))) <= maxBytes) fits = middle;
    else tooMany = middle;
  }
  return content(cut(characters, fits));
}

/** By code points, so that no half of a character is left. */
function cut(characters: readonly string[], length: number): string {
  return characters.length <= length ? characters.join('') : `${characters.slice(0, length).join('')}…`;
}

const bytesOf = (content: PushContent) => Buffer.byteLength(JSON.stringify(content));
