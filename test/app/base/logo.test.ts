import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { readLogo } from '../../../src/app/base/logo.js';
import { readConfig } from '../../../src/config/config.js';
import { temporaryFolder } from '../../cli/command.js';
import { errorsOf } from '../../support/config.js';

let image: Sharp;
beforeAll(() => {
  image = sharp({ create: { width: 1200, height: 300, channels: 4, background: '#0f766e80' } });
});

async function read(content: Buffer | undefined) {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'logo');
  if (content !== undefined) await writeFile(path, content);
  return readLogo(readConfig({ APP_LOGO: path }));
}

test('a PNG, JPEG or WebP image becomes a PNG of at most 400 × 96 pixels', async () => {
  expect(await readLogo(readConfig({}))).toBeUndefined();
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const logo = await read(await image.clone().toFormat(format).toBuffer());
    expect(logo).toMatchObject({ width: 384, height: 96 });
    const { format: written, hasAlpha } = await sharp(logo?.png).metadata();
    expect([written, hasAlpha]).toEqual(['png', format !== 'jpeg']);
  }
});

test('a file that is no such image is a configuration error', async () => {
  const png = await image.clone().png().toBuffer();
  await expect(read(undefined)).rejects.toThrow('APP_LOGO cannot be read: ENOENT');
  await expect(read(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).rejects.toThrow(
    'must be a PNG, JPEG or WebP',
  );
  await expect(read(await image.clone().avif().toBuffer())).rejects.toThrow('must be a PNG, JPEG or WebP');
  await expect(read(png.subarray(0, 60))).rejects.toThrow('is a damaged image');
  await expect(read(Buffer.concat([png, Buffer.alloc(1024 * 1024)]))).rejects.toThrow('is larger than 1 MB');
});

test('a colour that nobody sees on white is a configuration error', () => {
  expect(readConfig({ APP_COLOR: '#0F766E' }).APP_COLOR).toBe('#0f766e');
  expect(errorsOf({ APP_COLOR: '#ffff00' })).toEqual([
    'APP_COLOR has a contrast of 1.1 to 1 to white; choose a darker colour, of at least 3 to 1',
  ]);
  // 2.97 is not told as 3.0.
  expect(errorsOf({ APP_COLOR: '#e07b00' })[0]).toContain('a contrast of 2.9 to 1');
  for (const APP_COLOR of ['red', '#fff', '#0f766e00', '0f766e', '#0f766g']) {
    expect(errorsOf({ APP_COLOR })).toEqual(['APP_COLOR must be a colour such as #0f766e']);
  }
});
