import { isUtf8 } from 'node:buffer';
import { Problem, refuseFaults } from '../lib/problem.js';
import type { Line } from './line-reader.js';
import { parseJson } from './plugins/json-body.js';
import { validationFaults } from './plugins/validation.js';

/** Longest line, in bytes. */
export const maxLineBytes = 64 * 1024;

/** A line that was read: something to work on, or what is wrong with it. */
export interface Entry<Item> {
  readonly line: number;
  readonly bytes: number;
  readonly read: Item | Problem;
}

/** Checks one value against a schema; as Ajv's functions do, it leaves what is wrong at itself. */
export interface Validate {
  (input: unknown): unknown;
  errors?: Parameters<typeof validationFaults>[0] | null;
}

/**
 * What a line holds. The rules are those of a request of its own.
 * @param make from a value that matches the schema, and its text
 * @returns undefined for an empty line
 */
export function readEntry<Item>(
  { number: line, bytes }: Line,
  validate: Validate,
  make: (input: unknown, text: string) => Item,
): Entry<Item> | undefined {
  if (bytes?.length === 0) return undefined;
  try {
    if (bytes === undefined) throw new Problem('payload_too_large');
    if (!isUtf8(bytes)) throw new Problem('malformed_json');
    const text = bytes.toString('utf8');
    const input = parseJson(text);
    if (validate(input) !== true) refuseFaults(validationFaults(validate.errors ?? []));
    return { line, bytes: bytes.length, read: make(input, text) };
  } catch (error) {
    if (error instanceof Problem) return { line, bytes: 0, read: error };
    throw error;
  }
}

/** What is worked on and committed at a time: little enough to lock little for long, enough for few commits. */
export interface ChunkSize {
  readonly lines: number;
  readonly bytes: number;
  /** Of what a line may be much of, such as deliveries. */
  readonly weight: number;
}

/** Entries of one chunk, as long as they fit. */
export interface Gathering<Item> {
  readonly entries: readonly Entry<Item>[];
  hasRoomFor(entry: Entry<Item> | undefined): boolean;
  add(entry: Entry<Item> | undefined): void;
}

/** @param weightOf 0 for what is no item */
export function createGathering<Item>(most: ChunkSize, weightOf: (item: Item) => number): Gathering<Item> {
  const entries: Entry<Item>[] = [];
  let weight = 0;
  let bytes = 0;
  const weigh = ({ read }: Entry<Item>) => (read instanceof Problem ? 0 : weightOf(read));
  return {
    entries,
    hasRoomFor: (entry) =>
      entry === undefined ||
      entries.length === 0 ||
      (entries.length < most.lines && weight + weigh(entry) <= most.weight && bytes + entry.bytes <= most.bytes),
    add(entry) {
      if (entry === undefined) return;
      entries.push(entry);
      weight += weigh(entry);
      bytes += entry.bytes;
    },
  };
}

export function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
