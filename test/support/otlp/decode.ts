import { type Decoded, type Field, fieldsOf, isMessage, type MessageName } from './messages.js';

type Value = Decoded[string];

/**
 * Decodes a message of Protocol Buffers.
 * @throws Error for an unknown field, a wrong wire type, a repeated field that is no list, and invalid UTF-8
 */
export function decodeProtobuf(message: MessageName, bytes: Buffer): Decoded {
  const fields = new Map(fieldsOf(message).map((field) => [field.number, field]));
  const decoded: Record<string, Value> = {};
  for (let at = 0; at < bytes.length; ) {
    const [tag, afterTag] = readVarint(bytes, at);
    const field = fields.get(Number(tag >> 3n));
    if (field === undefined) throw new Error(`${message} has no field ${tag >> 3n}`);
    const wireType = Number(tag & 7n);
    if (wireType !== wireTypes[isMessage(field.type) ? 'message' : field.type]) {
      throw new Error(`${message}.${field.name} has the wire type ${wireType}`);
    }
    const [value, next] = readValue(field, bytes, afterTag);
    if (field.isList) decoded[field.name] = [...((decoded[field.name] ?? []) as Decoded[]), value as Decoded];
    else if (field.name in decoded) throw new Error(`${message}.${field.name} is repeated`);
    else decoded[field.name] = value;
    at = next;
  }
  return decoded;
}

const wireTypes = {
  ...{ uint: 0, int: 0, bool: 0, fixed64: 1, double: 1, string: 2, id: 2, message: 2, fixed32: 5 },
};

function readVarint(bytes: Buffer, start: number): [bigint, number] {
  let value = 0n;
  for (let at = start; at < start + 10; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error('the message is cut off');
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte < 0x80) return [value, at + 1];
  }
  throw new Error('a number is too long');
}

function readValue({ type }: Field, bytes: Buffer, at: number): [Value, number] {
  if (type === 'fixed64') return [String(bytes.readBigUInt64LE(at)), at + 8];
  if (type === 'double') return [bytes.readDoubleLE(at), at + 8];
  if (type === 'fixed32') return [bytes.readUInt32LE(at), at + 4];
  const [first, next] = readVarint(bytes, at);
  if (type === 'uint') return [Number(first), next];
  if (type === 'int') return [Number(BigInt.asIntN(64, first)), next];
  if (type === 'bool') return [first === 1n, next];
  const end = next + Number(first);
  if (end > bytes.length) throw new Error('the message is cut off');
  const part = bytes.subarray(next, end);
  if (isMessage(type)) return [decodeProtobuf(type, part), end];
  return [type === 'id' ? part.toString('hex') : new TextDecoder('utf-8', { fatal: true }).decode(part), end];
}

/**
 * Checks a message in the JSON encoding of OTLP, in which ids are hexadecimal and enumerations are numbers.
 * @throws Error for an unknown member and a value of another type
 */
export function decodeJson(message: MessageName, value: unknown): Decoded {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${message} is no object`);
  const fields = new Map(fieldsOf(message).map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => {
      const field = fields.get(name);
      if (field === undefined) throw new Error(`${message} has no member ${name}`);
      if (field.isList && !Array.isArray(given)) throw new Error(`${message}.${name} is no list`);
      const read = (item: unknown) => readJson(field, item, `${message}.${name}`);
      return [name, field.isList ? (given as unknown[]).map((item) => read(item) as Decoded) : read(given)];
    }),
  );
}

function readJson({ type }: Field, value: unknown, place: string): Value {
  if (isMessage(type)) return decodeJson(type, value);
  const isRight =
    type === 'id'
      ? typeof value === 'string' && /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/.test(value)
      : type === 'fixed64'
        ? typeof value === 'string' && /^\d{1,20}$/.test(value)
        : type === 'string'
          ? typeof value === 'string'
          : type === 'bool'
            ? typeof value === 'boolean'
            : typeof value === 'number' && (type === 'double' || Number.isSafeInteger(value));
  if (!isRight) throw new Error(`${place} is ${JSON.stringify(value)}`);
  return value as Value;
}
