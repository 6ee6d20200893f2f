import { buffer } from 'node:stream/consumers';
import { imageFiles, type Rendition } from '../../contract/image.js';
import type { ImageStorage, Renditions } from '../../notifications/images/storage.js';

/** What happened to one image: `missing` has no files in either storage. */
export type CopyResult = 'copied' | 'present' | 'missing';

const renditionNames = Object.keys(imageFiles) as Rendition[];

/**
 * Copies the files of an image to another storage, reads the copies and compares them. An image that the other storage
 * already has is only compared. A copied image is unsettled (see `ImageStorage`).
 * @throws Error if the files differ
 */
export async function copyImage(
  id: string,
  { from, to }: { readonly from: ImageStorage; readonly to: ImageStorage },
): Promise<CopyResult> {
  const source = await readAll(from, id);
  const target = await readAll(to, id);
  if (source === undefined) return target === undefined ? 'missing' : 'present';
  if (target !== undefined && isEqual(source, target)) return 'present';
  await to.put(id, source);
  const stored = await readAll(to, id);
  if (stored === undefined || !isEqual(source, stored)) throw new Error(`the image ${id} differs after it was copied`);
  return 'copied';
}

/** Undefined unless all files exist. */
async function readAll(storage: ImageStorage, id: string): Promise<Renditions | undefined> {
  const files: Partial<Record<Rendition, Buffer>> = {};
  for (const rendition of renditionNames) {
    const file = await storage.open(id, rendition);
    if (file === undefined) return undefined;
    files[rendition] = await buffer(file.content);
  }
  const { card, full, thumbnail } = files;
  return card && full && thumbnail && { card, full, thumbnail };
}

function isEqual(a: Renditions, b: Renditions): boolean {
  return renditionNames.every((rendition) => a[rendition].equals(b[rendition]));
}
