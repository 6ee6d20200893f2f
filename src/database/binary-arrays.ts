/*
 * Arrays of values with a fixed width, in PostgreSQL's binary format (`array_recv`). For thousands of ids and numbers,
 * PostgreSQL reads this format much faster than text, and `pg` sends bytes unchanged.
 */

/** Object identifiers of the element types, which PostgreSQL's catalogue fixes, and the bytes of an element. */
const types = {
  uuid: { oid: 2950, width: 16 },
  bigint: { oid: 20, width: 8 },
  timestamptz: { oid: 1184, width: 8 },
};

/** The header: number of dimensions, whether there are nulls, element type, number of elements, index of the first. */
const headLength = 20;

/** @param ids UUIDs of 36 characters, with hyphens */
export function uuidArray(ids: readonly string[]): Buffer {
  const array = emptyArray('uuid', ids.length);
  let offset = headLength;
  for (const id of ids) {
    offset = array.writeInt32BE(16, offset);
    for (const place of hexPlaces) {
      array[offset++] = (hexDigit(id.charCodeAt(place)) << 4) | hexDigit(id.charCodeAt(place + 1));
    }
  }
  return array;
}

/** @param values safe integers */
export function bigintArray(values: readonly number[]): Buffer {
  const array = emptyArray('bigint', values.length);
  let offset = headLength;
  for (const value of values) {
    const high = Math.floor(value / 2 ** 32);
    offset = array.writeInt32BE(8, offset);
    offset = array.writeInt32BE(high, offset);
    offset = array.writeUInt32BE(value - high * 2 ** 32, offset);
  }
  return array;
}

/** @param times microseconds since 2000-01-01, as `timestamptz_send` gives them. A `number` would not be exact beyond 2285 */
export function timeArray(times: BigInt64Array): Buffer {
  const array = emptyArray('timestamptz', times.length);
  let offset = headLength;
  for (const time of times) {
    offset = array.writeInt32BE(8, offset);
    offset = array.writeBigInt64BE(time, offset);
  }
  return array;
}

/** Reads one of several concatenated results of `int8send`, which must be a safe integer. */
export function readBigint(bytes: Buffer, index: number): number {
  return bytes.readInt32BE(index * 8) * 2 ** 32 + bytes.readUInt32BE(index * 8 + 4);
}

/** Reads one of several concatenated results of `timestamptz_send`, in the unit of `timeArray`. */
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

/** The positions of each byte's two digits in the text of a UUID. */
const hexPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** The value of a digit's character code. The low four bits are the value for `0` to `9`, and 1 to 6 for `a` to `f`. */
function hexDigit(code: number): number {
  return code < 0x3a ? code & 0xf : (code & 0xf) + 9;
}
