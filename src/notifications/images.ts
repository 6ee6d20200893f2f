import type { Image } from '../contract/notification.js';
import { prepared, type Queryable } from '../database/database.js';
import { newId } from '../lib/ids.js';
import { type FieldError, refuseFaults } from '../lib/problem.js';

/** Says for people why a URL may not be used; undefined when it may. */
export type CheckUrl = (url: string) => string | undefined;

// RFC 3986, section 3: WHATWG's parser, which browsers use, lets more pass, but answers promise a URI.
const PATH_CHARACTER = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})";
const URI = new RegExp(
  `^https?://[^/?#]+(?:/${PATH_CHARACTER}*)?(?:\\?(?:${PATH_CHARACTER}|\\?)*)?(?:#(?:${PATH_CHARACTER}|\\?)*)?$`,
);

/** The fault of an image's URL, if it has one. */
export function imageUrlFault(url: string, field: string, checkUrl: CheckUrl): FieldError | undefined {
  const reason = checkUrl(url) ?? (URI.test(canonical(url)) ? undefined : 'not a valid URL');
  return reason === undefined ? undefined : { field, code: 'invalid_url', params: { reason } };
}

/** What was checked is what is kept: the parser repairs backslashes, odd hosts and characters beyond ASCII. */
function canonical(url: string): string {
  return new URL(url).href;
}

const insertImages = prepared(
  'images_insert',
  `insert into images (id, external_url, check_after, created_at, updated_at)
   select id, url, now + interval '1 day', now, now
   from unnest($1::uuid[], $2::text[]) as image (id, url), (select db_now() as now) clock
   returning id, external_url as url, external_url as full_screen_url, external_url as thumbnail_url,
     created_at, updated_at`,
);
const selectImages = prepared(
  'images_find',
  `select id, external_url as url, external_url as full_screen_url, external_url as thumbnail_url, created_at, updated_at
   from images where id = any($1::uuid[])`,
);

/**
 * Makes images of URLs that were checked. The image stays where it is hosted, so all renditions are that URL.
 * @returns the images by URL as it was given.
 */
export async function createImages(tx: Queryable, urls: ReadonlySet<string>): Promise<Map<string, Image>> {
  if (urls.size === 0) return new Map();
  const ids = new Map([...urls].map((url) => [newId(), url]));
  const images = await tx.query<Image>(insertImages, [[...ids.keys()], [...ids.values()].map(canonical)]);
  return new Map(images.map((image) => [ids.get(image.id) ?? image.url, image]));
}

/** Makes one image. @throws Problem `validation_failed` that names `url`. */
export async function createImage(tx: Queryable, url: string, checkUrl: CheckUrl): Promise<Image> {
  const fault = imageUrlFault(url, 'url', checkUrl);
  if (fault !== undefined) refuseFaults([fault]);
  const [image] = (await createImages(tx, new Set([url]))).values();
  if (image === undefined) throw new Error('an image was inserted, but not returned');
  return image;
}

/**
 * The images of these ids that exist, by id. A query of its own and not a join: most pages have no image, and a page's
 * plan then depends on its user's rows alone, whatever the planner believes of the table of all images.
 */
export async function findImages(handle: Queryable, ids: ReadonlySet<string>): Promise<Map<string, Image>> {
  if (ids.size === 0) return new Map();
  const images = await handle.query<Image>(selectImages, [[...ids]]);
  return new Map(images.map((image) => [image.id, image]));
}
