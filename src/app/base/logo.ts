import { readFile } from 'node:fs/promises';
import { type Config, ConfigError } from '../../config/config.js';
import type { MailBrand } from '../../messages/mail-html.js';
import { formatOf } from '../../notifications/images/formats.js';

/** The size in pixels. Mails show it at half of it, so that it is sharp on dense screens. */
const size = { width: 400, height: 96, fit: 'inside', withoutEnlargement: true } as const;
const maxBytes = 1024 * 1024;
const maxPixels = 25_000_000;

/**
 * Reads the image of APP_LOGO and writes it again as a small PNG, which all mail programs show.
 * @returns undefined if it is not set
 * @throws ConfigError
 */
export async function readLogo({ APP_LOGO: path }: Config): Promise<MailBrand['logo']> {
  if (path === undefined) return undefined;
  const file = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`APP_LOGO cannot be read: ${error.code}`]);
  });
  if (file.length > maxBytes) throw new ConfigError(['APP_LOGO is larger than 1 MB']);
  const format = formatOf(file);
  if (format !== 'png' && format !== 'jpeg' && format !== 'webp') {
    throw new ConfigError(['APP_LOGO must be a PNG, JPEG or WebP image']);
  }
  const { default: sharp } = await import('sharp');
  try {
    const { data, info } = await sharp(file, { limitInputPixels: maxPixels, autoOrient: true })
      .resize(size)
      .png({ palette: true })
      .toBuffer({ resolveWithObject: true });
    return { png: data, width: info.width, height: info.height };
  } catch {
    throw new ConfigError(['APP_LOGO is a damaged image']);
  }
}
