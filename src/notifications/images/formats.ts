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

/** What a file is by its first bytes, whatever its name and content type say; undefined when it is nothing of ours. */
export function formatOf(file: Buffer): ImageFormat | undefined {
  return magic.find(([, matches]) => matches(file))?.[0];
}
