import type { QueryClient } from '@tanstack/react-query';
import { createCsvReader, type Delimiter, delimiterOf } from '../../../../src/users/import-file/csv.js';
import {
  type Encoding,
  encodingOf,
  encodings,
  textOf,
  type Unreadable,
} from '../../../../src/users/import-file/decode.js';
import { guessColumns, looksLikeHeadings, type Target } from '../../../../src/users/import-file/mapping.js';
import { csvLine } from '../../lib/csv.js';
import { onForget } from '../../lib/drafts.js';
import { createStore } from '../../lib/store.js';
import type { Texts } from '../../text/texts.js';
import { type Reading, readRows } from './rows.js';
import { emptyTally, type LineError, type Outcome, runImport, type Tally } from './run.js';

/** A chosen file: how it is read, and its first records. */
interface Source extends Reading {
  /** The first records, without headings. For NDJSON the first lines, with one cell each. */
  readonly sample: readonly (readonly string[])[];
}

/** A dry run or an import. */
export interface Run {
  readonly state: 'running' | 'stopped' | 'failed' | 'done';
  readonly tally: Tally;
  /** The rows that failed or exist already, by line. It grows while the run goes on. */
  readonly findings: ReadonlyMap<number, Outcome>;
  readonly error?: unknown;
}

interface ImportState {
  readonly isReading: boolean;
  readonly unreadable?: Unreadable | 'unreachable';
  readonly source?: Source;
  readonly dryRun?: Run;
  readonly work?: Run;
}

/** The import of this tab. It goes on while the operator looks at other pages. */
export const importing = createStore<ImportState>({ isReading: false });

/** The report of the last run: one line for each row and reason. Kept outside the heap, because it is as long as the file. */
let report: Blob[] = [];
let isStopped = false;

const update = (change: Partial<ImportState>) => importing.set({ ...importing.get(), ...change });
export const isRunning = ({ dryRun, work }: ImportState) => dryRun?.state === 'running' || work?.state === 'running';

/** Removes the file and its results. */
export function forgetImport(): void {
  isStopped = true;
  report = [];
  importing.set({ isReading: false });
}

onForget(forgetImport);

/** Reads how a file is written, and its first records. */
export async function chooseFile(file: File): Promise<void> {
  forgetImport();
  const reading: ImportState = { isReading: true };
  importing.set(reading);
  let next: ImportState;
  try {
    const encoding = await encodingOf(file);
    const isText = (encodings as readonly string[]).includes(encoding);
    next = isText
      ? { isReading: false, source: await sourceOf(file, encoding as Encoding) }
      : { isReading: false, unreadable: encoding as Unreadable };
  } catch {
    next = { isReading: false, unreadable: 'unreachable' };
  }
  // Another file may have been chosen meanwhile.
  if (importing.get() === reading) importing.set(next);
}

const sampleSize = 5;

async function sourceOf(file: File, encoding: Encoding, delimiter?: Delimiter, hasHeadings?: boolean): Promise<Source> {
  let head = '';
  for await (const { text } of textOf(file, encoding)) {
    head += text;
    if (head.length > 0) break;
  }
  if (head.trimStart().startsWith('{')) {
    const lines = head.split(/\r?\n/).filter((line) => line.trim() !== '');
    return { file, encoding, sample: lines.slice(0, sampleSize).map((line) => [line]) };
  }
  const usedDelimiter = delimiter ?? delimiterOf(head);
  const reader = createCsvReader(usedDelimiter);
  const records = [...reader.feed(head), ...reader.end()].map(({ cells }) => cells);
  const first = records[0] ?? [];
  const isHeaded = hasHeadings ?? looksLikeHeadings(first);
  const sample = records.slice(isHeaded ? 1 : 0, sampleSize + (isHeaded ? 1 : 0));
  const headings = first.map((heading) => (isHeaded ? heading.trim() : ''));
  const columns = guessColumns(headings, sample);
  return { file, encoding, sample, csv: { delimiter: usedDelimiter, hasHeadings: isHeaded, headings, columns } };
}

/** Reads the file again with another encoding or separator. The results of a dry run are no longer valid. */
export async function readAs(change: {
  readonly encoding?: Encoding;
  readonly delimiter?: Delimiter;
  readonly hasHeadings?: boolean;
}): Promise<void> {
  const { source } = importing.get();
  if (source === undefined) return;
  const { file, encoding, csv } = source;
  const delimiter = change.delimiter ?? csv?.delimiter;
  // Headings are guessed again with the cells.
  const hasHeadings = change.hasHeadings ?? (change.delimiter === undefined ? csv?.hasHeadings : undefined);
  const next = await sourceOf(file, change.encoding ?? encoding, delimiter, hasHeadings);
  if (importing.get().source === source) importing.set({ isReading: false, source: next });
}

/** Sets the targets of the columns. */
export function mapColumns(columns: readonly Target[]): void {
  const { source } = importing.get();
  if (source?.csv === undefined) return;
  importing.set({ isReading: false, source: { ...source, csv: { ...source.csv, columns } } });
}

/** Ends the run after its current request, so that the result of each row is known. */
export function stop(): void {
  isStopped = true;
}

const warnBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault();

/** Begins a dry run or an import, or goes on with it after it was stopped or interrupted. */
export async function start(runName: 'dryRun' | 'work', text: Texts, queries: QueryClient): Promise<void> {
  const { source, dryRun, [runName]: before } = importing.get();
  if (source === undefined || isRunning(importing.get())) return;
  if (before === undefined) report = [new Blob([toReport([reportHead])])];
  const findings = new Map(before?.findings);
  let run: Run = { state: 'running', tally: before?.tally ?? emptyTally, findings };
  const set = (change: Partial<Run>) => {
    run = { ...run, ...change };
    if (importing.get().source === source) update({ [runName]: run });
  };
  isStopped = false;
  window.addEventListener('beforeunload', warnBeforeUnload);
  set({});
  try {
    const isAll = await runImport(readRows(source), run.tally, {
      dryRun: runName === 'dryRun',
      dryRunFindings: runName === 'dryRun' ? findings : (dryRun?.findings ?? new Map()),
      onProgress(tally, outcomes) {
        const lines = outcomes.flatMap((outcome) => reportLines(outcome, text));
        if (lines.length > 0) report.push(new Blob([toReport(lines)]));
        for (const outcome of outcomes) if (isFinding(outcome)) findings.set(outcome.line, outcome);
        set({ tally });
        return !isStopped && importing.get().source === source;
      },
    });
    set({ state: isAll ? 'done' : 'stopped' });
  } catch (error) {
    set({ state: 'failed', error });
  } finally {
    window.removeEventListener('beforeunload', warnBeforeUnload);
    if (runName === 'work') void queries.invalidateQueries({ queryKey: ['users'] });
  }
}

const isFinding = ({ result }: Outcome) => result === 'exists' || result === 'failed';

const reportHead = ['line', 'result', 'id', 'user', 'field', 'code', 'message'];
const toReport = (lines: readonly (readonly unknown[])[]) => lines.map((line) => `${csvLine(line)}\r\n`).join('');

function reportLines({ line, result, id, displayName, errors }: Outcome, text: Texts): unknown[][] {
  const firstCells = [line, result, id, displayName];
  if (errors.length === 0) return [[...firstCells, '', '', '']];
  return errors.map((error) => [...firstCells, error.field, error.code, messageOf(error, text)]);
}

/** The reason in words. */
export function messageOf(error: LineError, { imports }: Texts): string {
  if ('message' in error) return error.message;
  return error.code === 'same_as_line' ? imports.sameAsLine(error.line) : imports.lineErrors[error.code];
}

/** The report so far, as CSV. */
export const reportFile = () => new Blob(report, { type: 'text/csv' });
