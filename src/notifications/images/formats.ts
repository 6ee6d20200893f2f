/** The accepted formats, named as in `sharp`. */
export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'heif';

const textBetween = (file: Buffer, start: number, end: number) => file.toString('latin1', start, end);

const magic: readonly (readonly [ImageFormat, (file: Buffer) => boolean])[] = [
  ['jpeg', (file) => textBetween(file, 0, 3) === '\xff\xd8\xff'],
  ['png', (file) => textBetween(file, 0, 8) === '\x89PNG\r\n\x1a\n'],
  ['webp', (file) => textBetween(file, 0, 4) === 'RIFF' && textBetween(file, 8, 12) === 'WEBP'],
  ['gif', (file) => /^GIF8[79]a$/.test(textBetween(file, 0, 6))],
  // ISO 14496-12, 4.3: the brands of the first box. HEIC uses the same container with other brands.
  ['heif', (file) => textBetween(file, 4, 8) === 'ftyp' && /^(?:....){0,15}avi[fs]/s.test(textBetween(file, 8, 72))],
];

/**
 * Content that makes a file valid as a page, a script or a PDF too. (A ZIP archive is recognised by the end of the
 * file.)
 */
const otherFormats = /<script|<html|<!doctype|<\?php|%pdf-/i;
/** The length of its longest alternative. */
const longestOfOthers = '<!doctype'.length;
const endOfZip = Buffer.from('PK\x05\x06', 'latin1');
/** A ZIP archive ends with the end of its directory and a comment of at most 64 KiB. */
const maxZipEndBytes = 65_557;

/**
 * The format of a file, according to its first bytes. The name and the content type of the file are ignored.
 * @returns undefined for any other format, and for a file that is valid in another format too
 */
export function formatOf(file: Buffer): ImageFormat | undefined {
  if (hasOtherFormat(file) || file.subarray(-maxZipEndBytes).includes(endOfZip)) return undefined;
  return magic.find(([, matches]) => matches(file))?.[0];
}

/** Reads the file in blocks: one string of some megabytes would be much garbage. Each block also has the beginning of the next one. */
function hasOtherFormat(file: Buffer): boolean {
  const block = 64 * 1024;
  for (let start = 0; start < file.length; start += block) {
    if (otherFormats.test(textBetween(file, start, start + block + longestOfOthers))) return true;
  }
  return false;
}
