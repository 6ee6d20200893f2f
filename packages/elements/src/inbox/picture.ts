import type { InboxItem } from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import { bellPath } from './icons.js';

/** The words of types of notifications that have an icon. Other types have a bell. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^security/, 'M10 2.5l6 2.2v4.6c0 4-2.6 6.7-6 8.2-3.4-1.5-6-4.2-6-8.2V4.7zM7.5 10l1.8 1.8 3.4-3.6'],
  [/pay|bill|invoice|refund|money|request|transfer|pool/, 'M2.5 5.5h15v9h-15zM2.5 8.5h15M5.5 12h2.5'],
  [/message|comment|chat|mention|reply/, 'M3 4.5h14v9H8.5L5 16.5v-3H3z'],
  [/event|remind|calendar|meeting|date/, 'M3.5 5h13v11.5h-13zM3.5 8.5h13M7 3v3.5M13 3v3.5'],
  [/order|deliver|ship|parcel/, 'M10 2.8l6.5 3.6v7.2L10 17.2l-6.5-3.6V6.4zM3.5 6.4L10 10l6.5-3.6M10 10v7.2'],
  [
    /friend|follow|invit|member|user/,
    'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3.8 16.8c.6-3 3-4.6 6.2-4.6s5.6 1.6 6.2 4.6',
  ],
];

/** The image of a notification, or the first letter of its actor with the icon of the type, or this icon alone. */
export function pictureOf({ image, actor, notification_type: type }: InboxItem): HTMLElement {
  const [letter] = actor?.trim() ?? '';
  const isSecurity = type === 'security';
  const path = kinds.find(([words]) => words.test(type))?.[1];
  const className = isSecurity ? 'thumbnail security' : 'thumbnail';
  const frame = element('span', { class: className, part: 'thumbnail', 'aria-hidden': 'true' });
  const kind = () => (path === undefined ? null : element('span', { class: 'kind', part: 'kind' }, icon(path)));
  const showFallback = () => {
    if (isSecurity || !letter) replaceContent(frame, icon(path ?? bellPath));
    else replaceContent(frame, letter.toLocaleUpperCase(), kind());
  };
  if (image === null || !isHttpUrl(image.thumbnail_url)) {
    showFallback();
    return frame;
  }
  const loading = { loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' };
  replaceContent(
    frame,
    element('img', { part: 'image', src: image.thumbnail_url, alt: '', ...loading, error: showFallback }),
    kind(),
  );
  return frame;
}

const isHttpUrl = (url: string) => /^https?:\/\//.test(url);
