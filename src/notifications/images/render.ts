import type { Sharp, SharpOptions } from 'sharp';
import { createConcurrencyLimiter } from '../../lib/concurrency-limiter.js';
import { Problem } from '../../lib/problem.js';
import { formatOf } from './formats.js';
import type { Renditions } from './storage.js';

/**
 * Makes the renditions of a file.
 * @param remainingMs called before each step. It returns the milliseconds that are left. If it throws an error, the work
 *   ends
 * @throws Problem `invalid_image`, `overloaded`
 */
export type Render = (file: Buffer, remainingMs: () => number) => Promise<Renditions>;

/** The maximum size: 25 megapixels. */
const maxPixels = 25_000_000;
/** A running decoder needs up to 150 MB, and a waiting file up to 5 MiB. `timeoutMs` limits the wait. */
const concurrency = { concurrency: 1, maxWaiting: 8, timeoutMs: 3000 };
/** Seconds for one step. Only a file that was built to be slow takes longer. */
const maxSeconds = 4;

/** `failOn: 'error'` also refuses truncated files. Only the first frame or page is read. */
const reading: SharpOptions = { failOn: 'error', limitInputPixels: maxPixels, autoOrient: true };

const card = { width: 640, height: 360, fit: 'cover' } as const;
const full = { width: 2048, height: 2048, fit: 'inside', withoutEnlargement: true } as const;
const thumbnail = { width: 160, height: 160, fit: 'cover' } as const;

type Library = (input: Buffer, options: SharpOptions) => Sharp;

/**
 * Decodes the file once, into at most 2048 x 2048 pixels, and makes the renditions from these pixels. So no bytes of the
 * file reach the renditions: no metadata, and no data behind the image.
 */
export function createRender(): Render {
  const limited = createConcurrencyLimiter(concurrency);
  let library: Promise<Library> | undefined;
  return (file, remainingMs) =>
    limited(async () => {
      // Throws an error if the time limit has passed while the file waited.
      remainingMs();
      library ??= loadLibrary();
      const sharp = await library;
      try {
        return await render(sharp, file, remainingMs);
      } catch (error) {
        throw error instanceof Problem ? error : new Problem('invalid_image', { cause: error });
      }
    });
}

/**
 * Loads the library when the first image arrives, because it takes 10 MB of memory. Turns off all formats that Postern
 * does not accept.
 */
async function loadLibrary(): Promise<Library> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  // More threads would make one image faster and concurrent logins slower.
  sharp.concurrency(1);
  const acceptedFormats = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'];
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: acceptedFormats.map((name) => `VipsForeignLoad${name}`) });
  return sharp;
}

async function render(sharp: Library, file: Buffer, remainingMs: () => number): Promise<Renditions> {
  // A decoder cannot be stopped from outside, so its timeout is the time that the upload has left.
  const timeout = () => ({ seconds: Math.min(maxSeconds, Math.ceil(remainingMs() / 1000) || 1) });
  const format = formatOf(file);
  if (format === undefined) throw new Problem('invalid_image');
  // Reads the header only: nothing is decoded before the size is known.
  const header = await sharp(file, reading).metadata();
  if (header.format !== format || header.width * header.height > maxPixels) throw new Problem('invalid_image');

  const { data, info } = await sharp(file, reading)
    .timeout(timeout())
    .resize(full)
    .flatten({ background: 'white' })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const jpeg = (size?: typeof card | typeof thumbnail) => {
    const pixels = sharp(data, { raw: { width, height, channels } }).timeout(timeout());
    return (size === undefined ? pixels : pixels.resize(size)).jpeg({ quality: 82 }).toBuffer();
  };
  return { card: await jpeg(card), full: await jpeg(), thumbnail: await jpeg(thumbnail) };
}
