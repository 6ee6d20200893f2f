import { isUtf8 } from 'node:buffer';
import { Problem, throwIfErrors } from '../../lib/problem.js';
import { parseJson } from '../plugins/json-body.js';
import { validationErrors } from '../plugins/validation.js';
import type { Line } from './line-reader.js';

/** The maximum length of a line, in bytes. */
export const maxLineBytes = 64 * 1024;

/** A line that was read: an item, or the problem for which it is refused. */
export interface Entry<Item> {
  readonly line: number;
  readonly bytes: number;
  readonly parsed: Item | Problem;
  /** The value of a line that was refused because it does not match the schema. */
  readonly refused?: unknown;
}

/** Checks one value against a schema. Like Ajv's functions, it sets `errors` on itself. */
export interface Validate {
  (input: unknown): unknown;
  errors?: Parameters<typeof validationErrors>[0] | null;
}

/**
 * Reads a line by the same rules as the body of a request.
 * @param make creates the item from a value that matches the schema and its text
 * @returns undefined for an empty line
 */
export function readEntry<Item>(
  { number: line, bytes }: Line,
  validate: Validate,
  make: (input: unknown, text: string) => Item,
): Entry<Item> | undefined {
  if (bytes?.length === 0) return undefined;
  let refused: { readonly bytes: number; readonly refused: unknown } | undefined;
  try {
    if (bytes === undefined) throw new Problem('payload_too_large');
    if (!isUtf8(bytes)) throw new Problem('malformed_json');
    // Editors and spreadsheets write a byte order mark at the start of a file.
    const text = bytes.toString('utf8').replace(line === 1 ? /^\ufeff/ : '', '');
    if (text === '') return undefined;
    const input = parseJson(text);
    if (validate(input) !== true) {
      refused = { bytes: bytes.length, refused: input };
      throwIfErrors(validationErrors(validate.errors ?? []));
    }
    return { line, bytes: bytes.length, parsed: make(input, text) };
  } catch (error) {
    if (error instanceof Problem) return { line, bytes: 0, parsed: error, ...refused };
    throw error;
  }
}

/** The limits of one transaction: small enough to hold few locks for a short time, large enough for few commits. */
export interface ChunkSize {
  readonly lines: number;
  readonly bytes: number;
  /** The limit of the sum of the items' weights, such as deliveries. */
  readonly weight: number;
}

/** Collects the entries of one chunk. */
export interface ChunkBuilder<Item> {
  readonly entries: readonly Entry<Item>[];
  hasRoomFor(entry: Entry<Item> | undefined): boolean;
  add(entry: Entry<Item> | undefined): void;
}

/**
 * @param weightOf the weight of an item; a refused line weighs 0
 * @param keysOf two items that share a key are never in one chunk, because the later one changes what the earlier one has made
 */
export function createChunkBuilder<Item>(
  max: ChunkSize,
  weightOf: (item: Item) => number,
  keysOf: (item: Item) => readonly string[] = () => [],
): ChunkBuilder<Item> {
  const entries: Entry<Item>[] = [];
  const keys = new Set<string>();
  let weight = 0;
  let bytes = 0;
  const weightOfEntry = ({ parsed }: Entry<Item>) => (parsed instanceof Problem ? 0 : weightOf(parsed));
  const keysOfEntry = ({ parsed }: Entry<Item>) => (parsed instanceof Problem ? [] : keysOf(parsed));
  return {
    entries,
    hasRoomFor: (entry) =>
      entry === undefined ||
      entries.length === 0 ||
      (entries.length < max.lines &&
        weight + weightOfEntry(entry) <= max.weight &&
        bytes + entry.bytes <= max.bytes &&
        !keysOfEntry(entry).some((key) => keys.has(key))),
    add(entry) {
      if (entry === undefined) return;
      entries.push(entry);
      weight += weightOfEntry(entry);
      bytes += entry.bytes;
      for (const key of keysOfEntry(entry)) keys.add(key);
    },
  };
}

/** A value as one line of NDJSON. */
export function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
