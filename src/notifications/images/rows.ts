import type { Image } from '../../contract/notification.js';
import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { canonicalUrl, type ImageUrls } from './url.js';

interface ImageRow {
  readonly id: string;
  /** Of an image that is hosted elsewhere. */
  readonly external_url: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = 'id, external_url, created_at, updated_at';

const insertReferences = prepared(
  'images_insert',
  `insert into images (id, external_url, check_after, created_at, updated_at)
   select id, url, now + interval '1 day', now, now
   from unnest($1::uuid[], $2::text[]) as image (id, url), (select db_now() as now) clock
   returning ${columns}`,
);
const insertUpload = prepared(
  'images_insert_upload',
  `insert into images (id, user_id, bytes, check_after, created_at, updated_at)
   select $1, $2, $3, now + interval '1 day', now, now from (select db_now() as now) clock
   returning ${columns}`,
);
const selectImages = prepared('images_find', `select ${columns} from images where id = any($1::uuid[])`);
/*
 * In one order for all, so that two publishers never wait for each other. Until commit nobody removes these images: the
 * cleaning skips them, and an erasure waits.
 */
const holdImagesOf = prepared(
  'images_hold',
  `select ${columns} from images where id = any($1::uuid[]) order by id for key share`,
);

/**
 * Makes images of URLs that were checked. The image stays where it is hosted, so all renditions are that URL.
 * @returns the images by URL as it was given.
 */
export async function referToImages(tx: Queryable, urls: ReadonlySet<string>): Promise<Map<string, Image>> {
  if (urls.size === 0) return new Map();
  const ids = new Map([...urls].map((url) => [newId(), url]));
  const given = [[...ids.keys()], [...ids.values()].map(canonicalUrl)];
  const rows = await tx.query<ImageRow>(insertReferences, given);
  return new Map(rows.map((row) => [ids.get(row.id) ?? '', toImage(row)]));
}

/** The row of an image whose files are stored. `userId` is who uploaded it, if a user did. */
export async function insertImage(
  tx: Queryable,
  upload: { readonly id: string; readonly userId: string | undefined; readonly bytes: number },
  urls: ImageUrls,
): Promise<Image> {
  const [row] = await tx.query<ImageRow>(insertUpload, [upload.id, upload.userId ?? null, upload.bytes]);
  if (row === undefined) throw new Error('an image was inserted, but not returned');
  return toImage(row, urls);
}

/**
 * The images of these ids that exist, by id. A query of its own and not a join: most pages have no image, and a page's
 * plan then depends on its user's rows alone, whatever the planner believes of the table of all images.
 */
export function findImages(handle: Queryable, ids: ReadonlySet<string>, urls: ImageUrls): Promise<Map<string, Image>> {
  return imagesOf(handle, selectImages, ids, urls);
}

/** The same for notifications that are about to show them: they stay until the transaction has ended. */
export function holdImages(tx: Queryable, ids: ReadonlySet<string>, urls: ImageUrls): Promise<Map<string, Image>> {
  return imagesOf(tx, holdImagesOf, ids, urls);
}

async function imagesOf(
  handle: Queryable,
  statement: typeof selectImages,
  ids: ReadonlySet<string>,
  urls: ImageUrls,
): Promise<Map<string, Image>> {
  if (ids.size === 0) return new Map();
  const rows = await handle.query<ImageRow>(statement, [[...ids]]);
  return new Map(rows.map((row) => [row.id, toImage(row, urls)]));
}

function toImage({ id, external_url: url, created_at, updated_at }: ImageRow, urls?: ImageUrls): Image {
  const where = url === null ? urls?.(id) : { url, full_screen_url: url, thumbnail_url: url };
  if (where === undefined) throw new Error('the URLs of an uploaded image were not given');
  return { id, ...where, created_at, updated_at };
}
