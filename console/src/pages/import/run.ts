import { send } from '../../api/client.js';
import { readLines } from '../../api/ndjson.js';
import { NetworkError, ProblemError } from '../../api/problem.js';
import type { ImportResult } from '../../api/schema.js';
import type { Row, RowError, Rows } from './rows.js';

/** Why a row is refused: the reason of the service, or one that the console found. */
export type LineError =
  | { readonly field?: string | undefined; readonly code: string; readonly message: string }
  | { readonly field?: undefined; readonly code: RowError }
  | { readonly field: string; readonly code: 'same_as_line'; readonly line: number };

/** The result of one row. */
export interface Outcome {
  readonly line: number;
  readonly displayName: string;
  readonly result: 'created' | 'valid' | 'exists' | 'failed';
  /** The user who was created, or exists already. */
  readonly id?: string | undefined;
  readonly errors: readonly LineError[];
}

/** The progress of a dry run or an import. */
export interface Tally {
  /** All rows up to this line of the file have a result. */
  readonly line: number;
  /** The part of the file, from 0 to 1. */
  readonly part: number;
  /** Created, or valid in a dry run. */
  readonly good: number;
  readonly exists: number;
  readonly failed: number;
  /** The lines whose answer was lost: their users may have been created. */
  readonly unsure?: readonly [from: number, to: number];
}
export const emptyTally: Tally = { line: 0, part: 0, good: 0, exists: 0, failed: 0 };

interface Run {
  readonly dryRun: boolean;
  /** The rows that are not sent, because a dry run already has their results. */
  readonly dryRunFindings: ReadonlyMap<number, Outcome>;
  /** Called after each request with the outcomes of its rows. @returns whether to go on */
  readonly onProgress: (tally: Tally, outcomes: readonly Outcome[]) => boolean;
}

/** The limits of one request. A stop takes effect between two requests, so that the result of each row is known. */
const limits = { rows: 500, slowRows: 50, characters: 1_000_000 };
/** The maximum number of consecutive repeated requests without a new result. After that the run fails. */
const maxRepeats = 3;

/**
 * Sends the rows after the last one with a result, in chunks.
 *
 * @returns false if it was stopped before all rows had a result
 * @throws the errors of a request; `onProgress` has the results until then
 */
export async function runImport(source: AsyncIterable<Rows>, before: Tally, run: Run): Promise<boolean> {
  const { unsure: _, ...decided } = before;
  let tally: Tally = decided;
  const seenIdentities = new Map<string, number>();
  for await (const { rows, part } of chunksOf(source, before.line, run, seenIdentities)) {
    let rest = rows;
    for (let repeats = 0; ; ) {
      const answer = await sendRows(rest, run);
      const outcomes = decide(rest, answer, run, seenIdentities);
      rest = rest.slice(outcomes.length);
      tally = addOutcomes(tally, outcomes, rest.length === 0 ? part : tally.part);
      const [first, last] = [rest[0], rest.at(-1)];
      const isUnsure = answer.isLost === true && !run.dryRun && first !== undefined && last !== undefined;
      const continues = run.onProgress(isUnsure ? { ...tally, unsure: [first.line, last.line] } : tally, outcomes);
      if (rest.length > 0 && answer.error !== undefined) {
        repeats = outcomes.length > 0 ? 0 : repeats + 1;
        if (answer.isRepeatable !== true || repeats > maxRepeats) throw answer.error;
      }
      if (!continues) return rest.length === 0 && part === 1;
      if (rest.length === 0) break;
    }
  }
  run.onProgress({ ...tally, part: 1 }, []);
  return true;
}

/** The rows after a line, in chunks for one request each. */
async function* chunksOf(
  source: AsyncIterable<Rows>,
  afterLine: number,
  { dryRun, dryRunFindings }: Run,
  seen: Map<string, number>,
) {
  let rows: Row[] = [];
  let [slow, size, done] = [0, 0, 0];
  for await (const { rows: read, part } of source) {
    for (const row of read) {
      if (row.line <= afterLine) {
        // The part of a dry run that came before an interruption.
        if (dryRun && row.error === undefined && !dryRunFindings.has(row.line)) remember(row, seen);
        continue;
      }
      rows.push(row);
      size += row.json.length;
      if (row.needsHash && !dryRun) slow += 1;
      if (rows.length < limits.rows && slow < limits.slowRows && size < limits.characters) continue;
      yield { rows, part: done };
      [rows, slow, size] = [[], 0, 0];
    }
    done = part;
  }
  if (rows.length > 0) yield { rows, part: 1 };
}

interface Answer {
  readonly results: ReadonlyMap<Row, ImportResult>;
  /** Why there is no result for some rows. */
  readonly error?: unknown;
  /** The connection was lost. */
  readonly isLost?: boolean;
  /** The next request renews what has ended: the session, or the proof of who the operator is. */
  readonly isRepeatable?: boolean;
}

async function sendRows(rows: readonly Row[], { dryRun, dryRunFindings }: Run): Promise<Answer> {
  const results = new Map<Row, ImportResult>();
  const sentRows = rows.filter(({ line, error }) => error === undefined && !dryRunFindings.has(line));
  if (sentRows.length === 0) return { results };
  try {
    const response = await send('POST', '/admin/v1/users/import', {
      query: dryRun ? { dry_run: true } : {},
      body: sentRows.map(({ json }) => `${json}\n`).join(''),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    for await (const result of readLines<ImportResult>(response)) {
      const { line, status, code = '' } = result;
      if (status !== undefined) {
        const error = new ProblemError(new Response(null, { status, headers: response.headers }), { title: code });
        return { results, error, isRepeatable: status === 401 || code === 'fresh_proof_required' };
      }
      const row = line === undefined ? undefined : sentRows[line - 1];
      if (row !== undefined) results.set(row, result);
    }
    if (results.size === sentRows.length) return { results };
    return { results, error: new NetworkError('The answer ended in the middle.'), isLost: true };
  } catch (error) {
    return { results, error, isLost: error instanceof NetworkError };
  }
}

/** The outcomes of the first rows, up to the first one without a result. */
function decide(
  rows: readonly Row[],
  { results }: Answer,
  { dryRun, dryRunFindings }: Run,
  seen: Map<string, number>,
): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const row of rows) {
    const { line, displayName, error } = row;
    const finding = dryRunFindings.get(line);
    const answer = results.get(row);
    if (finding !== undefined) outcomes.push(finding);
    else if (error !== undefined) outcomes.push({ line, displayName, result: 'failed', errors: [{ code: error }] });
    else if (answer?.result === undefined) break;
    else {
      const { result, id, errors = [] } = answer;
      const duplicate = dryRun && result === 'valid' ? findDuplicate(row, seen) : undefined;
      if (dryRun && result === 'valid' && duplicate === undefined) remember(row, seen);
      outcomes.push(duplicate ?? { line, displayName, result, id, errors });
    }
  }
  return outcomes;
}

const keyOf = ([field, value]: readonly [string, string]) => `${field}\n${value}`;

function remember({ identities, line }: Row, seen: Map<string, number>): void {
  for (const identity of identities) seen.set(keyOf(identity), line);
}

/**
 * A dry run creates nothing. So the service does not see that two rows in different requests have the same identity: the
 * first one gets it.
 */
function findDuplicate(
  { line, displayName, identities, hasId }: Row,
  seen: ReadonlyMap<string, number>,
): Outcome | undefined {
  const duplicates = identities.map((identity) => seen.get(keyOf(identity)));
  const errors = identities.flatMap(([field], index): LineError[] => {
    const twin = duplicates[index];
    return twin === undefined ? [] : [{ field, code: 'same_as_line', line: twin }];
  });
  if (errors.length === 0) return undefined;
  const isSameUser = !hasId && errors.length === identities.length && new Set(duplicates).size === 1;
  return { line, displayName, result: isSameUser ? 'exists' : 'failed', errors };
}

function addOutcomes(tally: Tally, outcomes: readonly Outcome[], part: number): Tally {
  const count = (...results: readonly Outcome['result'][]) =>
    outcomes.filter(({ result }) => results.includes(result)).length;
  return {
    line: outcomes.at(-1)?.line ?? tally.line,
    part,
    good: tally.good + count('created', 'valid'),
    exists: tally.exists + count('exists'),
    failed: tally.failed + count('failed'),
  };
}
