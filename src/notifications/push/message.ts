import type { NotificationRow } from '../inbox/row.js';
import type { PushContent } from './sender.js';

/**
 * The maximum number of bytes of JSON. Every push service accepts messages of 4096 bytes. The service's own fields and
 * the encryption of Web Push need some of them.
 */
const maxBytes = 3000;
/** The maximum number of characters of a title. */
const maxTitle = 100;

/** The content of a push about a notification. A text that does not fit is cut at its end. */
export function pushContent(row: NotificationRow): PushContent {
  const { id, notification_type, notification_key, sequence, actor } = row;
  const title = actor === null || actor === '' ? null : truncate([...actor], maxTitle);
  const content = (body: string) => ({ id, notification_type, notification_key, title, body, sequence });
  if (bytesOf(content(row.description)) <= maxBytes) return content(row.description);
  const characters = [...row.description];
  let fittingLength = 0;
  let tooMany = characters.length;
  while (tooMany - fittingLength > 1) {
    const middle = Math.floor((fittingLength + tooMany) / 2);
    if (bytesOf(content(truncate(characters, middle))) <= maxBytes) fittingLength = middle;
    else tooMany = middle;
  }
  return content(truncate(characters, fittingLength));
}

/** Cuts between code points, so that no half of a character is left. */
function truncate(characters: readonly string[], length: number): string {
  return characters.length <= length ? characters.join('') : `${characters.slice(0, length).join('')}…`;
}

const bytesOf = (content: PushContent) => Buffer.byteLength(JSON.stringify(content));
