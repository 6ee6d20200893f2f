import type { Image } from '../../contract/image.js';
import type { Queryable } from '../../database/database.js';
import { type StatementWith, sql, statement } from '../../database/sql.js';
import { newId } from '../../lib/ids.js';
import { canonicalUrl, type ImageUrls } from './url.js';

interface ImageRow {
  readonly id: string;
  /** The URL of an image that is hosted elsewhere; null for an uploaded image. */
  readonly external_url: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = sql`id, external_url, created_at, updated_at`;

const insertReferences = statement<{ ids: readonly string[]; urls: readonly string[] }, ImageRow>(
  'images_insert',
  (p) => sql`
    insert into images (id, external_url, check_after, created_at, updated_at)
    select id, url, now + interval '1 day', now, now
    from unnest(${p.ids}::uuid[], ${p.urls}::text[]) as image (id, url), (select db_now() as now) clock
    returning ${columns}`,
);

const insertUpload = statement<{ id: string; userId: string | null; bytes: number }, ImageRow>(
  'images_insert_upload',
  (p) => sql`
    insert into images (id, user_id, bytes, check_after, created_at, updated_at)
    select ${p.id}, ${p.userId}, ${p.bytes}, now + interval '1 day', now, now from (select db_now() as now) clock
    returning ${columns}`,
);

const selectImages = statement<{ ids: readonly string[] }, ImageRow>(
  'images_find',
  (p) => sql`select ${columns} from images where id = any(${p.ids}::uuid[])`,
);

/**
 * Locks images in one order, so that two publishers never wait for each other in a cycle. Nobody removes these images
 * before the commit: the cleanup skips them, and an erasure waits.
 */
const lockImages = statement<{ ids: readonly string[] }, ImageRow>(
  'images_lock',
  (p) => sql`select ${columns} from images where id = any(${p.ids}::uuid[]) order by id for key share`,
);

/**
 * Creates images from URLs that were checked. Postern does not copy these images, so all renditions of an image have
 * its URL.
 * @returns the images, by the URLs of the request
 */
export async function referToImages(tx: Queryable, urls: ReadonlySet<string>): Promise<Map<string, Image>> {
  if (urls.size === 0) return new Map();
  const urlById = new Map([...urls].map((url) => [newId(), url]));
  const rows = await tx.query(
    insertReferences({ ids: [...urlById.keys()], urls: [...urlById.values()].map(canonicalUrl) }),
  );
  return new Map(rows.map((row) => [urlById.get(row.id) ?? '', toImage(row)]));
}

/** Inserts the row of an image whose files are stored. @param upload.userId the user who uploaded it, if a user did */
export async function insertImage(
  tx: Queryable,
  upload: { readonly id: string; readonly userId: string | undefined; readonly bytes: number },
  urls: ImageUrls,
): Promise<Image> {
  const { id, userId = null, bytes } = upload;
  const [row] = await tx.query(insertUpload({ id, userId, bytes }));
  if (row === undefined) throw new Error('an inserted image was not returned');
  return toImage(row, urls);
}

/**
 * The existing images of these ids, by id. This is a separate query and not a join, because most pages have no image.
 * It also keeps the statistics of the table of images from changing the plan of a page.
 */
export function findImages(handle: Queryable, ids: ReadonlySet<string>, urls: ImageUrls): Promise<Map<string, Image>> {
  return imagesOf(handle, selectImages, ids, urls);
}

/**
 * Finds images and locks them, for notifications that are about to show them: the images stay until the transaction
 * ends.
 */
export function findAndLockImages(
  tx: Queryable,
  ids: ReadonlySet<string>,
  urls: ImageUrls,
): Promise<Map<string, Image>> {
  return imagesOf(tx, lockImages, ids, urls);
}

async function imagesOf(
  handle: Queryable,
  statement: StatementWith<{ ids: readonly string[] }, ImageRow>,
  ids: ReadonlySet<string>,
  urls: ImageUrls,
): Promise<Map<string, Image>> {
  if (ids.size === 0) return new Map();
  const rows = await handle.query(statement({ ids: [...ids] }));
  return new Map(rows.map((row) => [row.id, toImage(row, urls)]));
}

function toImage({ id, external_url: url, created_at, updated_at }: ImageRow, urls?: ImageUrls): Image {
  const urlFields = url === null ? urls?.(id) : { url, full_screen_url: url, thumbnail_url: url };
  if (urlFields === undefined) throw new Error('the URLs of an uploaded image are missing');
  return { id, ...urlFields, created_at, updated_at };
}
