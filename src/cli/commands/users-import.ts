import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ImportedLine, UserToImport } from '../../contract/user-import.js';
import { importChunk, importEntries, importWeight, withoutNulls } from '../../http/ndjson/import-items.js';
import { createChunkBuilder, type Entry, maxLineBytes, readEntry, toLine } from '../../http/ndjson/items.js';
import { createLineReader } from '../../http/ndjson/line-reader.js';
import { closed } from '../../http/plugins/known-names.js';
import { createValidator } from '../../http/plugins/validation.js';
import { Problem } from '../../lib/problem.js';
import { createCsvReader, delimiterOf } from '../../users/import-file/csv.js';
import { type Encoding, encodingOf, encodings, textOf, type Unreadable } from '../../users/import-file/decode.js';
import { guessColumns, looksLikeHeadings, userOf } from '../../users/import-file/mapping.js';
import { cliOrigin, openUserImport, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** The exit code if at least one line failed. */
const exitFailed = 1;

/** Registers `postern users import`. It exits with 1 if a line failed. */
export function usersImportCommand(users: Command, io: Io, exitWith: (code: number) => void): void {
  users
    .command('import')
    .description('create users from a file of JSON lines or CSV; existing users do not change')
    .argument('<file>', 'a file of JSON lines, or CSV with headings; - is standard input')
    .option('--dry-run', 'check every line, but create nothing')
    .addHelpText(
      'after',
      '\nThe result of each line goes to standard output. The exit code is 1 if a line failed. A password works for one login, at\nwhich the user chooses another; a hash stays as it is. Only the user chooses a PIN. CSV is read as in the console:\nthe separator, the encoding and the columns are found by the content.\n\nExamples:\n  postern users import users.ndjson > results.ndjson\n  postern users import --dry-run users.csv',
    )
    .action(async (file: string, { dryRun }: { dryRun?: true }) => {
      const failed = await importUsers(io, await openInput(io, file), dryRun === true);
      if (failed > 0) exitWith(exitFailed);
    });
}

/** @returns how many lines failed. */
async function importUsers(io: Io, input: AsyncIterable<string | Uint8Array>, dryRun: boolean): Promise<number> {
  const counts = { created: 0, valid: 0, exists: 0, failed: 0 };
  let lastLine = 0;
  try {
    await withDatabase(io, async (database, config) => {
      const userImport = await openUserImport(io, database, config);
      const importChunkOf = userImport.begin({ origin: cliOrigin, dryRun, isAdmin: true, operator: true });
      for await (const entries of chunksOf(io, input)) {
        const results = await importEntries(entries, importChunkOf, 'en');
        io.stdout.write(results.map(toLine).join(''));
        for (const { result } of results) if (result !== undefined) counts[result] += 1;
        lastLine = entries.at(-1)?.line ?? lastLine;
      }
    });
  } finally {
    // Also after an error: committed users stay.
    printLine(io.stderr, summary(counts, lastLine));
  }
  return counts.failed;
}

function summary(counts: Readonly<Record<NonNullable<ImportedLine['result']>, number>>, lastLine: number): string {
  const parts = [`${counts.created} created`, `${counts.exists} exist already`, `${counts.failed} failed`];
  if (counts.valid > 0) parts.unshift(`${counts.valid} would be created`);
  return `${parts.join(', ')}; processed up to line ${lastLine}.`;
}

async function openInput({ stdin }: Io, file: string): Promise<AsyncIterable<string | Uint8Array>> {
  if (file !== '-') return (await open(file)).createReadStream();
  if (stdin === undefined) throw new CommandError('There is no standard input to read the users from.');
  return stdin;
}

async function* chunksOf(
  io: Io,
  input: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<readonly Entry<UserToImport>[]> {
  let chunk = createChunkBuilder(importChunk, importWeight);
  for await (const entry of entriesOf(io, input)) {
    if (!chunk.hasRoomFor(entry)) {
      yield chunk.entries;
      chunk = createChunkBuilder(importChunk, importWeight);
    }
    chunk.add(entry);
  }
  if (chunk.entries.length > 0) yield chunk.entries;
}

async function* entriesOf(io: Io, input: AsyncIterable<string | Uint8Array>): AsyncGenerator<Entry<UserToImport>> {
  const pieces = input[Symbol.asyncIterator]();
  const head = await readHead(pieces);
  const rest = { [Symbol.asyncIterator]: () => pieces };
  yield* isNdjson(head) ? ndjsonEntries(head, rest) : csvEntries(io, head, rest);
}

/** The beginning of the input, up to the first piece with a text. */
async function readHead(pieces: AsyncIterator<string | Uint8Array>): Promise<Buffer> {
  const read: Buffer[] = [];
  for (;;) {
    const { value, done } = await pieces.next();
    if (done !== true) read.push(Buffer.from(value));
    const head = Buffer.concat(read);
    if (done === true || textOfHead(head) !== '') return head;
  }
}

const textOfHead = (head: Buffer) =>
  head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trim();
/** An empty file has no lines in either format. */
const isNdjson = (head: Buffer) => /^(?:$|[{[])/.test(textOfHead(head));

const createEntryValidator = () => withoutNulls(createValidator(closed(UserToImport)));

async function* ndjsonEntries(
  head: Buffer,
  rest: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Entry<UserToImport>> {
  const lines = createLineReader(maxLineBytes);
  const validate = createEntryValidator();
  const entryOf = (line: Parameters<typeof readEntry>[0] | undefined) =>
    line === undefined ? undefined : readEntry(line, validate, (value) => value as UserToImport);
  for await (const piece of concat(head, rest)) {
    lines.feed(Buffer.from(piece));
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      const entry = entryOf(line);
      if (entry !== undefined) yield entry;
    }
  }
  const entry = entryOf(lines.end());
  if (entry !== undefined) yield entry;
}

async function* concat(head: Buffer, rest: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  if (head.length > 0) yield head;
  yield* rest;
}

/** The texts of files that hold no lines. */
const unreadable: Readonly<Record<Unreadable, string>> = {
  empty: 'The file is empty.',
  workbook: 'The file is a workbook. Save it as CSV.',
  binary: 'The file is no text.',
};

/** The number of first records by which the columns are found. */
const sampleSize = 5;

/** Reads the whole file, because its encoding depends on all of its bytes. */
async function* csvEntries(
  io: Io,
  head: Buffer,
  rest: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Entry<UserToImport>> {
  const pieces: Buffer[] = [];
  for await (const piece of concat(head, rest)) pieces.push(Buffer.from(piece));
  const file = new Blob(pieces);
  const encoding = await encodingOf(file);
  if (!isEncoding(encoding)) throw new CommandError(unreadable[encoding]);
  const { value: first } = await textOf(file, encoding).next();
  const text = first?.text ?? '';
  const delimiter = delimiterOf(text);
  const sample = createCsvReader(delimiter)
    .feed(`${text}\n`)
    .slice(0, sampleSize + 1);
  const [headings = [], ...records] = sample.map(({ cells }) => cells.map((cell) => cell.trim()));
  if (!looksLikeHeadings(headings))
    throw new CommandError('The first line of the file has no headings, such as email.');
  const columns = guessColumns(headings, records);
  if (columns.every((target) => target === 'none')) {
    throw new CommandError('No column of the file is known. Name them username, email, phone, name or as in the API.');
  }
  const names = headings.map(
    (heading, column) => `${heading}: ${columns[column] === 'none' ? 'not imported' : columns[column]}`,
  );
  printLine(io.stderr, names.join(', '));
  const validate = createEntryValidator();
  const reader = createCsvReader(delimiter);
  let isFirst = true;
  const entriesOfRecords = (records: ReturnType<typeof reader.feed>) =>
    records.flatMap(({ line, cells, error }): Entry<UserToImport>[] => {
      if (isFirst) {
        isFirst = false;
        return [];
      }
      if (error !== undefined || cells.slice(headings.length).some((cell) => cell !== '')) {
        return [{ line, bytes: 0, parsed: new Problem('validation_failed', { errors: [{ code: 'invalid_row' }] }) }];
      }
      const bytes = Buffer.from(JSON.stringify(userOf(cells, columns, headings)));
      const entry = readEntry({ number: line, bytes }, validate, (value) => value as UserToImport);
      return entry === undefined ? [] : [entry];
    });
  for await (const { text } of textOf(file, encoding)) yield* entriesOfRecords(reader.feed(text));
  yield* entriesOfRecords(reader.end());
}

const isEncoding = (encoding: Encoding | Unreadable): encoding is Encoding =>
  (encodings as readonly string[]).includes(encoding);
