/** The encodings of a file that an import can read. Spreadsheets on Windows still write the last one. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

/** Why a file holds no lines of text. */
export type Unreadable = 'empty' | 'workbook' | 'binary';

/** The number of bytes that are read at a time. Between two pieces, a page of the console draws and reacts. */
const chunkBytes = 64 * 1024;

async function* bytesOf(file: Blob): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < file.size; offset += chunkBytes) {
    yield new Uint8Array(await file.slice(offset, offset + chunkBytes).arrayBuffer());
  }
}

const startsWithBytes = (bytes: Uint8Array, ...mark: readonly number[]) =>
  mark.every((byte, index) => bytes[index] === byte);

/** Finds the encoding of a file, by its byte order mark or else by all of its bytes. */
export async function encodingOf(file: Blob): Promise<Encoding | Unreadable> {
  const firstBytes = new Uint8Array(await file.slice(0, chunkBytes).arrayBuffer());
  if (firstBytes.length === 0) return 'empty';
  if (startsWithBytes(firstBytes, 0x50, 0x4b, 0x03, 0x04) || startsWithBytes(firstBytes, 0xd0, 0xcf, 0x11, 0xe0))
    return 'workbook';
  if (startsWithBytes(firstBytes, 0xff, 0xfe)) return 'utf-16le';
  if (startsWithBytes(firstBytes, 0xfe, 0xff)) return 'utf-16be';
  const zeros = [0, 0];
  for (const [index, byte] of firstBytes.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  // In UTF-16 every second byte of most texts is zero.
  const [even = 0, odd = 0] = zeros;
  if (odd > firstBytes.length / 4 && even * 10 < odd) return 'utf-16le';
  if (even > firstBytes.length / 4 && odd * 10 < even) return 'utf-16be';
  if (even + odd > 0) return 'binary';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of bytesOf(file)) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return 'utf-8';
  } catch (error) {
    // Other errors are those of reading, such as a file that has changed.
    if (error instanceof TypeError) return 'windows-1252';
    throw error;
  }
}

/** The text of a file in pieces, each with the part of the file that is read by then, from 0 to 1. */
export async function* textOf(file: Blob, encoding: Encoding): AsyncGenerator<{ text: string; part: number }> {
  const decoder = new TextDecoder(encoding);
  let read = 0;
  for await (const bytes of bytesOf(file)) {
    read += bytes.length;
    yield { text: decoder.decode(bytes, { stream: true }), part: read / file.size };
  }
  yield { text: decoder.decode(), part: 1 };
}
