import type { Sharp, SharpOptions } from 'sharp';
import { Problem } from '../../lib/problem.js';
import { createTurnstile } from '../../lib/turnstile.js';
import { formatOf } from './formats.js';
import type { Renditions } from './storage.js';

/**
 * Makes the renditions of a file.
 * @param left milliseconds for it, asked before each step; what it throws ends the work
 * @throws Problem `invalid_image`, `overloaded`
 */
export type Render = (file: Buffer, left: () => number) => Promise<Renditions>;

/** Pixels that a file may have; 25 megapixels. */
const maxPixels = 25_000_000;
/** A decoder at work takes up to 150 MB, a file that waits up to 5 MiB. `patience` in milliseconds. */
const line = { width: 1, length: 8, patience: 3000 };
/** Seconds for one step: files that take longer are made to. */
const longest = 4;

/** `failOn: 'error'` refuses what is truncated too; only the first frame or page is read. */
const reading: SharpOptions = { failOn: 'error', limitInputPixels: maxPixels, autoOrient: true };

const card = { width: 640, height: 360, fit: 'cover' } as const;
const full = { width: 2048, height: 2048, fit: 'inside', withoutEnlargement: true } as const;
const thumbnail = { width: 160, height: 160, fit: 'cover' } as const;

type Library = (input: Buffer, options: SharpOptions) => Sharp;

/**
 * The file itself is decoded once, into at most 2048 x 2048 bare pixels, and the renditions are made of those: nothing
 * of the file's own bytes gets into them, neither metadata nor what may hang behind the image.
 */
export function createRender(): Render {
  const inTurn = createTurnstile(line);
  let library: Promise<Library> | undefined;
  return (file, left) =>
    inTurn(async () => {
      left();
      library ??= loadLibrary();
      const sharp = await library;
      try {
        return await render(sharp, file, left);
      } catch (error) {
        throw error instanceof Problem ? error : new Problem('invalid_image', { cause: error });
      }
    });
}

/** Only when it is needed: it takes 10 MB. What it could read beyond our formats is switched off. */
async function loadLibrary(): Promise<Library> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  // More threads would make one image quicker and the logins beside it slower.
  sharp.concurrency(1);
  const ours = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'];
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ours.map((name) => `VipsForeignLoad${name}`) });
  return sharp;
}

async function render(sharp: Library, file: Buffer, left: () => number): Promise<Renditions> {
  // A decoder cannot be stopped from outside, so it has no longer than the upload has.
  const timeout = () => ({ seconds: Math.min(longest, Math.ceil(left() / 1000) || 1) });
  const format = formatOf(file);
  if (format === undefined) throw new Problem('invalid_image');
  // The head alone: nothing is decoded before its size is known.
  const head = await sharp(file, reading).metadata();
  if (head.format !== format || head.width * head.height > maxPixels) throw new Problem('invalid_image');

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
