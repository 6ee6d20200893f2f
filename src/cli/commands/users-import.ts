import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ImportedLine, UserToImport } from '../../contract/user-import.js';
import { importChunk, importEntries, importWeight, withoutNulls } from '../../http/ndjson/import-items.js';
import { createChunkBuilder, type Entry, maxLineBytes, readEntry, toLine } from '../../http/ndjson/items.js';
import { createLineReader } from '../../http/ndjson/line-reader.js';
import { closed } from '../../http/plugins/known-names.js';
import { createValidator } from '../../http/plugins/validation.js';
import { cliOrigin, openUserImport, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** The exit code if at least one line failed. */
const exitFailed = 1;

/** Registers `postern users import`. It exits with 1 if a line failed. */
export function usersImportCommand(users: Command, io: Io, exitWith: (code: number) => void): void {
  users
    .command('import')
    .description('create users from a file of JSON lines; existing users do not change')
    .argument('<file>', 'a file with one user on each line; - is standard input')
    .option('--dry-run', 'check every line, but create nothing')
    .addHelpText(
      'after',
      '\nThe result of each line goes to standard output. The exit code is 1 if a line failed.\n\nExample:\n  postern users import users.ndjson > results.ndjson',
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
      const importChunkOf = userImport.begin({ origin: cliOrigin, dryRun, isAdmin: true });
      for await (const entries of chunksOf(input)) {
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

async function* chunksOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<readonly Entry<UserToImport>[]> {
  let chunk = createChunkBuilder(importChunk, importWeight);
  for await (const entry of entriesOf(input)) {
    if (!chunk.hasRoomFor(entry)) {
      yield chunk.entries;
      chunk = createChunkBuilder(importChunk, importWeight);
    }
    chunk.add(entry);
  }
  if (chunk.entries.length > 0) yield chunk.entries;
}

async function* entriesOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<Entry<UserToImport>> {
  const lines = createLineReader(maxLineBytes);
  const validate = withoutNulls(createValidator(closed(UserToImport)));
  for await (const chunk of input) {
    lines.feed(Buffer.from(chunk));
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      const entry = readEntry(line, validate, (value) => value as UserToImport);
      if (entry !== undefined) yield entry;
    }
  }
  const last = lines.end();
  const entry = last === undefined ? undefined : readEntry(last, validate, (value) => value as UserToImport);
  if (entry !== undefined) yield entry;
}
