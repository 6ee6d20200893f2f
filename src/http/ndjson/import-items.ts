import type { Language } from '../../contract/errors/text.js';
import type { ImportedLine, UserToImport } from '../../contract/user-import.js';
import { isJsonObject } from '../../lib/json-object.js';
import { mapWithPauses, type Pace } from '../../lib/pacing.js';
import { Problem } from '../../lib/problem.js';
import type { ImportOutcome } from '../../users/import.js';
import { problemBody } from '../plugins/problems.js';
import type { Entry, Validate } from './items.js';

/** The limits of one transaction. A user weighs 1, or 10 with a password or PIN to hash. */
export const importChunk = { lines: 500, weight: 500, bytes: 1024 * 1024 };

/** Checks a line as `validate` does. Exports of other systems contain null where a user has no value: it counts as absent. */
export function withoutNulls(validate: Validate): Validate {
  const check: Validate = (input) => {
    if (isJsonObject(input)) for (const [name, value] of Object.entries(input)) if (value === null) delete input[name];
    const isValid = validate(input);
    check.errors = validate.errors ?? null;
    return isValid;
  };
  return check;
}

/** The weight of a user in a chunk: see `importChunk`. */
export function importWeight({ password, pin }: UserToImport): number {
  return password === undefined && pin === undefined ? 1 : 10;
}

/**
 * Imports the entries of one chunk.
 * @returns a result for each entry, in the order of the entries
 */
export async function importEntries(
  entries: readonly Entry<UserToImport>[],
  importUsers: (users: readonly UserToImport[]) => Promise<readonly ImportOutcome[]>,
  language: Language,
  pace: Pace = () => undefined,
): Promise<ImportedLine[]> {
  const users = entries.flatMap(({ parsed }) => (parsed instanceof Problem ? [] : parsed));
  const outcomes = await importUsers(users);
  const byUser = new Map(users.map((user, index) => [user, outcomes[index]]));
  const lines = await mapWithPauses(pace, entries, ({ line, parsed }): ImportedLine | undefined => {
    const outcome = parsed instanceof Problem ? parsed : byUser.get(parsed);
    if (outcome === undefined) return undefined;
    if (!(outcome instanceof Problem)) return { line, ...outcome };
    return { line, result: 'failed', errors: problemBody(outcome, '', language).errors };
  });
  return lines.filter((line) => line !== undefined);
}
