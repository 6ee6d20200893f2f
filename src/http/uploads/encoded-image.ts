import { Problem, throwIfErrors } from '../../lib/problem.js';

/** The maximum number of bytes in addition to the file. */
const maxBytesAround = 64 * 1024;
/** The maximum length of the prefix `data:…;base64,`. */
const maxPrefix = 1024;
/** The memory of a larger file is reserved at once. */
const minBytesOfLarge = 64 * 1024;
const [quote, backslash] = [0x22, 0x5c];
const [space, openBracket, closeBracket, openBrace, closeBrace] = [0x20, 0x5b, 0x5d, 0x7b, 0x7d];

export interface EncodedSizes {
  readonly maxBytes: number;
  readonly maxFileBytes: number;
  /** The size of the body, if it is known. */
  readonly bodyBytes?: number;
}

export interface EncodedImage {
  /** The JSON text with an empty string in place of the file. */
  readonly text: Buffer;
  /** The file of the member `encoded`; undefined if this is no string. @throws Problem `validation_failed`, `payload_too_large` */
  readonly file: (() => Buffer) | undefined;
}

/**
 * Reads a JSON body, and decodes the base64 of its member `encoded` piece by piece as it arrives. If a file of some megabytes were one
 * string of a JSON text, parsing and decoding it would block the event loop for 50 ms, and leave much garbage.
 * @throws Problem `payload_too_large` if the body has more bytes than `maxBytes`. The rest of the stream is not read then
 */
export async function readEncodedImage(
  body: AsyncIterable<Buffer>,
  { maxBytes, maxFileBytes, bodyBytes = 0 }: EncodedSizes,
): Promise<EncodedImage> {
  const around: Buffer[] = [];
  const length = { all: 0, around: 0 };
  const isFileNext = createMemberFinder('encoded');
  let file: Base64Reader | undefined;
  let isInFile = false;
  const keep = (bytes: Buffer) => {
    length.around += bytes.length;
    if (length.around > maxBytesAround) throw new Problem('payload_too_large');
    // Copied: a piece is a view of a larger buffer, which would otherwise stay in memory.
    if (bytes.length > 0) around.push(Buffer.from(bytes));
  };

  /** Returns where the rest of the piece begins. */
  function readFile(piece: Buffer, from: number): number {
    // Base64 contains no escaped quotation mark: `\"` ends the string too, and its backslash makes the file invalid.
    const end = piece.indexOf(quote, from);
    file?.write(piece.subarray(from, end === -1 ? undefined : end));
    isInFile = end === -1;
    return end === -1 ? piece.length : end + 1;
  }

  function readAround(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      if (!isFileNext(piece[at] ?? 0)) continue;
      keep(piece.subarray(from, at + 1));
      keep(Buffer.of(quote));
      file = createBase64Reader(maxFileBytes, file === undefined ? (bodyBytes / 4) * 3 : 0);
      isInFile = true;
      return at + 1;
    }
    keep(piece.subarray(from));
    return piece.length;
  }

  for await (const piece of body) {
    length.all += piece.length;
    if (length.all > maxBytes) throw new Problem('payload_too_large');
    for (let at = 0; at < piece.length; ) at = isInFile ? readFile(piece, at) : readAround(piece, at);
  }
  return { text: Buffer.concat(around), file: file?.end };
}

/** Decodes a file that was not decoded while it arrived: the name of the member had escapes. @throws like `EncodedImage.file` */
export function decodeImage(encoded: string, maxFileBytes: number): Buffer {
  const reader = createBase64Reader(maxFileBytes);
  reader.write(Buffer.from(encoded));
  return reader.end();
}

/**
 * Finds the string of a member of the outermost object. The function returns true for the opening quotation mark. Do not call it for the
 * bytes of the string.
 */
function createMemberFinder(name: string): (byte: number) => boolean {
  const before = `"${name}":`;
  let recent = '';
  let level = 0;
  let isInString = false;
  let isEscaped = false;
  return (byte) => {
    const isOpening = !isInString && byte === quote;
    if (isOpening && level === 1 && recent === before) {
      recent = '';
      return true;
    }
    if (isInString || byte > space) recent = (recent + String.fromCharCode(byte)).slice(-before.length);
    // The characters after an escape are not the beginning of a name.
    if (isEscaped) [isEscaped, recent] = [false, ''];
    else if (isInString && byte === backslash) isEscaped = true;
    else if (byte === quote) isInString = !isInString;
    else if (!isInString && (byte === openBrace || byte === openBracket)) level += 1;
    else if (!isInString && (byte === closeBrace || byte === closeBracket)) level -= 1;
    return false;
  };
}

interface Base64Reader {
  write(bytes: Buffer): void;
  /** The decoded bytes. @throws Problem `validation_failed`, `payload_too_large` */
  end(): Buffer;
}

/**
 * Decodes the content of a JSON string, which is base64 with or without the prefix of a `data:` URL.
 * @param expectedBytes about the size of the file
 */
function createBase64Reader(maxBytes: number, expectedBytes = 0): Base64Reader {
  /** One buffer: parts and their copy would be much garbage outside of the heap, and its collection blocks the event loop. */
  let file = Buffer.allocUnsafeSlow(0);
  let length = 0;
  let isValid = true;
  let isStart = true;
  /** The rest that is not decoded yet: the beginning of an escape, and characters. */
  let cutEscape = '';
  let characters = '';

  const makeRoom = (size: number) => {
    if (size <= file.length) return;
    // The length of a body can be false, so it counts only after a part of the file has arrived.
    const expected = length < minBytesOfLarge ? 0 : expectedBytes;
    const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(size, expected, 2 * file.length)));
    file.copy(larger, 0, 0, length);
    file = larger;
  };
  const removePrefix = () => {
    characters = withoutPrefix(characters);
    isStart = false;
  };

  return {
    write(bytes) {
      if (!isValid || length > maxBytes) return;
      const text = cutEscape + bytes.toString('latin1');
      cutEscape = /\\(?:u[\da-f]{0,3})?$/i.exec(text.slice(-5))?.[0] ?? '';
      characters += unescaped(text.slice(0, text.length - cutEscape.length));
      if (isStart && characters.length < maxPrefix) return;
      if (isStart) removePrefix();
      // The end may have padding.
      const ready = Math.max(0, 4 * Math.floor(characters.length / 4) - 4);
      const complete = characters.slice(0, ready);
      characters = characters.slice(ready);
      const size = (ready / 4) * 3;
      if (length + size > maxBytes) length = maxBytes + 1;
      if (length > maxBytes) return;
      makeRoom(length + size);
      // Node's decoder skips characters that are not base64, so the size shows them. But it accepts `-` and `_` (base64url), so they are
      // searched. A regular expression would be twenty times slower.
      isValid = file.write(complete, length, 'base64') === size && !complete.includes('-') && !complete.includes('_');
      length += size;
    },
    end() {
      if (isStart) removePrefix();
      if (isValid && length === 0 && characters + cutEscape === '')
        throwIfErrors([{ field: 'encoded', code: 'required' }]);
      const last = decodeStrictly(characters + cutEscape);
      if (!isValid || last === undefined) throw new Problem('validation_failed', { errors: [invalid] });
      if (length + last.length > maxBytes) throw new Problem('payload_too_large');
      makeRoom(length + last.length);
      length += last.copy(file, length);
      return file.subarray(0, length);
    },
  };
}

const invalid = { field: 'encoded', code: 'invalid_format' } as const;

/** Replaces the escapes of characters that base64 has. All other escapes keep their backslash, which is not base64. */
const unescaped = (text: string) =>
  text.includes('\\')
    ? text.replace(/\\(?:\/|u00([2-7][\da-f]))/gi, (_, code?: string) =>
        code === undefined ? '/' : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

/** A `data:` URL that is no base64 keeps its colon, which is not base64. */
function withoutPrefix(text: string): string {
  const end = text.startsWith('data:') ? text.slice(0, maxPrefix).indexOf(';base64,') : -1;
  return end === -1 ? text : text.slice(end + 8);
}

/** Decodes base64, with or without padding. Undefined if it has characters that Node's decoder skips, or unused bits. */
function decodeStrictly(base64: string): Buffer | undefined {
  const file = Buffer.from(base64, 'base64');
  const isBase64 = withoutPadding(file.toString('base64')) === withoutPadding(base64) && base64.length % 4 !== 1;
  return isBase64 ? file : undefined;
}

const withoutPadding = (base64: string) => base64.replace(/={1,2}$/, '');
