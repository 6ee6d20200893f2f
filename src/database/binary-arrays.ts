/*
 * Arrays of values of one width, in PostgreSQL's binary format (`array_recv`). Of thousands of ids and numbers it takes a
 * fraction of what their text takes to read there, and `pg` sends bytes as they are.
 */

/** Object identifiers of the elements' types, fixed in PostgreSQL's catalogue, and how many bytes one takes. */
const types = {
  uuid: { oid: 2950, width: 16 },
  bigint: { oid: 20, width: 8 },
  timestamptz: { oid: 1184, width: 8 },
};

/** Before the elements: dimensions, whether there are nulls, the elements' type, their number, and the first's index. */
const headLength = 20;

/** @param ids of 36 characters each, digits and hyphens in their places */
export function uuidArray(ids: readonly string[]): Buffer {
  const array = emptyArray('uuid', ids.length);
  let at = headLength;
  for (const id of ids) {
    at = array.writeInt32BE(16, at);
    for (const place of hexPlaces) {
      array[at++] = (hexDigit(id.charCodeAt(place)) << 4) | hexDigit(id.charCodeAt(place + 1));
    }
  }
  return array;
}

/** @param values whole numbers that are exact */
export function bigintArray(values: readonly number[]): Buffer {
  const array = emptyArray('bigint', values.length);
  let at = headLength;
  for (const value of values) {
    const high = Math.floor(value / 2 ** 32);
    at = array.writeInt32BE(8, at);
    at = array.writeInt32BE(high, at);
    at = array.writeUInt32BE(value - high * 2 ** 32, at);
  }
  return array;
}

/** @param times microseconds since the beginning of 2000, as `timestamptz_send` gives them: beyond 2285 no number is exact */
export function timeArray(times: BigInt64Array): Buffer {
  const array = emptyArray('timestamptz', times.length);
  let at = headLength;
  for (const time of times) {
    at = array.writeInt32BE(8, at);
    at = array.writeBigInt64BE(time, at);
  }
  return array;
}

/** One of what `int8send` gave of numbers that are exact, one behind the other. */
export function readBigint(bytes: Buffer, index: number): number {
  return bytes.readInt32BE(index * 8) * 2 ** 32 + bytes.readUInt32BE(index * 8 + 4);
}

/** One of what `timestamptz_send` gave, as `timeArray` takes it. */
export function readTime(bytes: Buffer, index: number): bigint {
  return bytes.readBigInt64BE(index * 8);
}

function emptyArray(type: keyof typeof types, length: number): Buffer {
  const { oid, width } = types[type];
  const array = Buffer.allocUnsafe(headLength + length * (4 + width));
  [1, 0, oid, length, 1].forEach((value, place) => {
    array.writeInt32BE(value, place * 4);
  });
  return array;
}

/** Where the two digits of each byte begin in a UUID's text. */
const hexPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** Of a digit's code: `0` to `9` end in their value, `a` to `f` in 1 to 6. */
function hexDigit(code: number): number {
  return code < 0x3a ? code & 0xf : (code & 0xf) + 9;
}
