/** The header of a file or folder in a tar archive (POSIX.1-1988, ustar). */
export interface TarHeader {
  /** Relative, with `/`; at most 100 bytes of ASCII. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  /** Bytes; less than 8 GiB. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Seconds since 1970. */
  readonly modifiedAt: number;
}

export const blockBytes = 512;
/** The end of an archive: two empty blocks. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);
const maxPathBytes = 100;
const maxSize = 8 ** 11 - 1;

/** The header as a block. @throws RangeError for a path or a size that ustar cannot hold */
export function writeHeader({ path, type, size, mode, modifiedAt }: TarHeader): Buffer {
  if (!/^[\x20-\x7e]+$/.test(path) || path.length > maxPathBytes)
    throw new RangeError(`${path} cannot be in a tar archive`);
  if (size > maxSize) throw new RangeError(`${path} is too large for a tar archive`);
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0, 'latin1');
  block.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  block.write(`${octal(size, 11)}\0${octal(modifiedAt, 11)}\0`, 124, 'latin1');
  block.write(type === 'file' ? '0' : '5', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${octal(checksumOf(block), 6)}\0 `, 148, 'latin1');
  return block;
}

/** Reads a block that {@link writeHeader} has written. Undefined for any other block. */
export function readHeader(block: Buffer): TarHeader | undefined {
  const text = (from: number, to: number) => block.toString('latin1', from, to).replace(/\0.*$/s, '');
  const number = (from: number, to: number) => Number.parseInt(text(from, to), 8);
  const path = text(0, maxPathBytes);
  const header: TarHeader = {
    path,
    type: block[156] === 0x35 ? 'folder' : 'file',
    size: number(124, 136),
    mode: number(100, 108),
    modifiedAt: number(136, 148),
  };
  const isComplete = path !== '' && [header.size, header.mode, header.modifiedAt].every(Number.isSafeInteger);
  try {
    return isComplete && writeHeader(header).equals(block) ? header : undefined;
  } catch {
    return undefined;
  }
}

/** The zeros after the content of a file, up to the next block. */
export function paddingAfter(size: number): Buffer {
  return tarEnd.subarray(0, (blockBytes - (size % blockBytes)) % blockBytes);
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');

/** The sum of the bytes, with spaces in place of the checksum. */
function checksumOf(block: Buffer): number {
  const copy = Buffer.from(block).fill(' ', 148, 156);
  return copy.reduce((sum, byte) => sum + byte, 0);
}
