import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp, { type Color, type Region, type Sharp } from 'sharp';

/** A temporary folder for the images of one test. */
export async function createImageFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-images-'));
  return { path: join(folder, 'images'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The ids of the processes that decode images for this process. */
export function decoders(): number[] {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', maxBuffer: 1e8 }).split(
    '\n',
  );
  return all.flatMap((line) => {
    const [, pid, parent, state = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)/.exec(line) ?? [];
    // An ended process has the state Z until its parent has noticed it. The program has several lines.
    return Number(parent) === process.pid && !state.startsWith('Z') && line.includes(' -e ') ? [Number(pid)] : [];
  });
}

export const red = { r: 255, g: 0, b: 0 };
export const blue = { r: 0, g: 0, b: 255 };

/** A picture of one colour. */
export function plain(width: number, height: number, background: Color = red): Sharp {
  return sharp({ create: { width, height, channels: 4, background } });
}

/** Left half red, right half blue. */
export async function twoHalves(width: number, height: number): Promise<Sharp> {
  const right = await plain(width / 2, height, blue)
    .png()
    .toBuffer();
  return plain(width, height).composite([{ input: right, left: width / 2, top: 0 }]);
}

/** Noise, which does not compress: a file of about one byte per pixel. */
export function noise(width: number, height: number): Sharp {
  return sharp({
    create: { width, height, channels: 3, background: red, noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  });
}

/** A black PNG of this size, written byte by byte: 25 million pixels are 3 KB. */
export function hugePng(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // One bit a pixel, greyscale.
  head.set([1, 0, 0, 0, 0], 8);
  // The header alone refuses a larger image.
  const rows = Math.min((Math.ceil(width / 8) + 1) * height, 4 * 1024 * 1024);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(Buffer.alloc(rows))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(named.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  named.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(named), named.length + 4);
  return chunk;
}

/** CRC-32 (PNG, annex D). Node.js 20.19 does not have it everywhere. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** A form with these files: the name of the part, the content, and the name of the file. */
export function formOf(...files: readonly (readonly [name: string, content: Buffer, filename?: string])[]): FormData {
  const form = new FormData();
  for (const [name, content, filename = 'picture'] of files) form.append(name, new Blob([content]), filename);
  return form;
}

/** The average colour of a region of a picture, or of the whole picture. */
export async function colourOf(picture: Buffer, region?: Region): Promise<{ r: number; g: number; b: number }> {
  const part = region === undefined ? sharp(picture) : sharp(picture).extract(region);
  const { channels } = await sharp(await part.png().toBuffer()).stats();
  const [r = -1, g = -1, b = -1] = channels.map(({ mean }) => Math.round(mean));
  return { r, g, b };
}
