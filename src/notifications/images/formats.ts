/** Formats that are accepted, as `sharp` names them. */
export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'heif';

const at = (file: Buffer, start: number, end: number) => file.toString('latin1', start, end);

const magic: readonly (readonly [ImageFormat, (file: Buffer) => boolean])[] = [
  ['jpeg', (file) => at(file, 0, 3) === '\xff\xd8\xff'],
  ['png', (file) => at(file, 0, 8) === '\x89PNG\r\n\x1a\n'],
  ['webp', (file) => at(file, 0, 4) === 'RIFF' && at(file, 8, 12) === 'WEBP'],
  ['gif', (file) => /^GIF8[79]a$/.test(at(file, 0, 6))],
  // ISO 14496-12, 4.3: the brands of the first box. HEIC has the same container, but not this brand.
  ['heif', (file) => at(file, 4, 8) === 'ftyp' && /^(?:....){0,15}avi[fs]/s.test(at(file, 8, 72))],
];

/** What makes a file something else as well: a page, a script, a PDF; and at the end of a file a ZIP archive. */
const otherFormats = /<script|<html|<!doctype|<\?php|%pdf-/i;
const endOfZip = Buffer.from('PK\x05\x06', 'latin1');
/** A ZIP archive ends with its directory's end and a comment of at most 64 KiB. */
const longestZipEnd = 65_557;

/**
 * What a file is by its first bytes, whatever its name and content type say; undefined when it is nothing of ours, or
 * something else besides.
 */
export function formatOf(file: Buffer): ImageFormat | undefined {
  if (otherFormats.test(file.toString('latin1')) || file.subarray(-longestZipEnd).includes(endOfZip)) return undefined;
  return magic.find(([, matches]) => matches(file))?.[0];
}
