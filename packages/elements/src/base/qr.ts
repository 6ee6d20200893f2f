// QR codes (ISO/IEC 18004): bytes, error correction M, versions 1 to 10, mask 0. Enough for the URIs of authenticator apps.

/** By version: the number of error correction bytes of a block, and the number of blocks. */
const levels = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
] as const;

/** The number of modules for data: all except finders, timing, alignment, format and version. */
function rawBits(version: number): number {
  const patterns = version < 2 ? 0 : Math.floor(version / 7) + 2;
  const raw = (16 * version + 128) * version + 64;
  return patterns === 0 ? raw : raw - (25 * patterns - 10) * patterns + 55 - (version >= 7 ? 36 : 0);
}

/** The product of two elements of the field of 256 elements with the polynomial 0x11d. */
function product(a: number, b: number): number {
  let result = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    result = (result << 1) ^ ((result >>> 7) * 0x11d);
    result ^= ((b >>> bit) & 1) * a;
  }
  return result;
}

/** The remainder of Reed and Solomon for a block. */
function correction(data: readonly number[], count: number): number[] {
  const divisor = [...Array<number>(count - 1).fill(0), 1];
  for (let i = 0, root = 1; i < count; i += 1, root = product(root, 2)) {
    for (let j = 0; j < count; j += 1) divisor[j] = product(divisor[j] ?? 0, root) ^ (divisor[j + 1] ?? 0);
  }
  const remainder = Array<number>(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ (remainder.shift() ?? 0);
    remainder.push(0);
    for (let i = 0; i < count; i += 1) remainder[i] = (remainder[i] ?? 0) ^ product(divisor[i] ?? 0, factor);
  }
  return remainder;
}

/** The bytes of a version: data in blocks, then their corrections, interleaved. Null if the text does not fit. */
function codewords(bytes: Uint8Array, version: number): number[] | null {
  const [perBlock, blocks] = levels[version - 1] ?? [0, 1];
  const totalBytes = Math.floor(rawBits(version) / 8);
  const capacity = totalBytes - perBlock * blocks;
  const lengthBits = version < 10 ? 8 : 16;
  if (bytes.length * 8 + 4 + lengthBits > capacity * 8) return null;
  const bits = `0100${bytes.length.toString(2).padStart(lengthBits, '0')}${[...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')}0000`;
  const data = (
    bits
      .slice(0, capacity * 8)
      .padEnd(Math.ceil(Math.min(bits.length, capacity * 8) / 8) * 8, '0')
      .match(/.{8}/g) ?? []
  ).map((byte) => Number.parseInt(byte, 2));
  for (let pad = 0xec; data.length < capacity; pad ^= 0xec ^ 0x11) data.push(pad);
  const shortLength = Math.floor(capacity / blocks);
  const longBlocks = capacity % blocks;
  const parts: number[][] = [];
  for (let i = 0, offset = 0; i < blocks; i += 1) {
    const length = shortLength + (i >= blocks - longBlocks ? 1 : 0);
    parts.push(data.slice(offset, offset + length));
    offset += length;
  }
  const corrections = parts.map((part) => correction(part, perBlock));
  const result: number[] = [];
  for (let i = 0; i <= shortLength; i += 1)
    for (const part of parts) if (part[i] !== undefined) result.push(part[i] ?? 0);
  for (let i = 0; i < perBlock; i += 1) for (const part of corrections) result.push(part[i] ?? 0);
  return result;
}

/** Format bits for correction M and mask 0, with their own correction (BCH). */
const format = 0x5412;

function bch(value: number, polynomial: number, width: number): number {
  let remainder = value;
  for (let i = 0; i < width; i += 1) remainder = (remainder << 1) ^ ((remainder >>> (width - 1)) * polynomial);
  return (value << width) | remainder;
}

/**
 * The modules of a QR code, row by row: true is dark. Null if the text is longer than about 210 bytes.
 *
 * @param text in UTF-8
 */
export function qrCode(text: string): readonly (readonly boolean[])[] | null {
  const bytes = new TextEncoder().encode(text);
  let version = 1;
  let words: number[] | null = null;
  for (; version <= levels.length; version += 1) {
    words = codewords(bytes, version);
    if (words !== null) break;
  }
  if (words === null) return null;
  const size = version * 4 + 17;
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const fixed = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const set = (x: number, y: number, dark: boolean) => {
    const [row, taken] = [rows[y], fixed[y]];
    if (row === undefined || taken === undefined || x < 0 || x >= size) return;
    row[x] = dark;
    taken[x] = true;
  };

  for (let i = 0; i < size; i += 1) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const) {
    for (let dy = -4; dy <= 4; dy += 1) {
      for (let dx = -4; dx <= 4; dx += 1) {
        const distance = Math.max(Math.abs(dx), Math.abs(dy));
        set(x + dx, y + dy, distance !== 2 && distance !== 4);
      }
    }
  }
  const count = version < 2 ? 0 : Math.floor(version / 7) + 2;
  const step = count < 2 ? 0 : Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  const centres =
    count === 0 ? [] : [6, ...Array.from({ length: count - 1 }, (_, i) => size - 7 - step * (count - 2 - i))];
  for (const [i, x] of centres.entries()) {
    for (const [j, y] of centres.entries()) {
      const isFinder = (i === 0 && j === 0) || (i === 0 && j === count - 1) || (i === count - 1 && j === 0);
      for (let dy = -2; dy <= 2 && !isFinder; dy += 1) {
        for (let dx = -2; dx <= 2; dx += 1) set(x + dx, y + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
      }
    }
  }
  const formatBits = bch(0, 0x537, 10) ^ format;
  const bit = (value: number, index: number) => ((value >>> index) & 1) === 1;
  for (let i = 0; i < 15; i += 1) {
    const dark = bit(formatBits, i);
    if (i < 6) set(8, i, dark);
    else if (i < 8) set(8, i + 1, dark);
    else if (i === 8) set(7, 8, dark);
    else set(14 - i, 8, dark);
    if (i < 8) set(size - 1 - i, 8, dark);
    else set(8, size - 15 + i, dark);
  }
  set(8, size - 8, true);
  if (version >= 7) {
    const versionBits = bch(version, 0x1f25, 12);
    for (let i = 0; i < 18; i += 1) {
      const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)];
      set(a, b, bit(versionBits, i));
      set(b, a, bit(versionBits, i));
    }
  }

  let bitIndex = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let vertical = 0; vertical < size; vertical += 1) {
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - vertical : vertical;
        const row = rows[y];
        if (row === undefined || fixed[y]?.[x]) continue;
        const dark = bitIndex < words.length * 8 && bit(words[bitIndex >>> 3] ?? 0, 7 - (bitIndex & 7));
        row[x] = dark !== ((x + y) % 2 === 0);
        bitIndex += 1;
      }
    }
  }
  return rows;
}
