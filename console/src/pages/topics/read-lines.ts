import type { SubscriptionLine } from '../../api/schema.js';
import { readFileText, referencesOf } from '../notifications/read-ids.js';

/** The pasted text or the chosen file, as lines for the service. */
export interface ReadSubscriptions {
  readonly lines: readonly (SubscriptionLine & { readonly line: number })[];
  /** Lines without a user. */
  readonly refused: readonly number[];
}

/**
 * Reads users from NDJSON, CSV or one user on each line. A line of NDJSON may say `"remove": true`.
 * @param isRemoved what a line means that does not say it
 */
export function readSubscriptions(text: string, isRemoved: boolean): ReadSubscriptions {
  const { found, refused } = referencesOf(readFileText(text));
  const rows = text.replace(/^\uFEFF/, '').split('\n');
  const lines = found.map(({ reference, line }) => {
    const remove = removalOf(rows[line - 1] ?? '') ?? isRemoved;
    return { user_id: reference, ...(remove && { remove }), line };
  });
  return { lines, refused: refused.map(({ line }) => line) };
}

function removalOf(row: string): boolean | undefined {
  if (!row.trimStart().startsWith('{')) return undefined;
  try {
    const { remove } = JSON.parse(row) as { readonly remove?: unknown };
    return typeof remove === 'boolean' ? remove : undefined;
  } catch {
    return undefined;
  }
}
