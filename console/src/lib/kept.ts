import { whenForgotten } from './drafts.js';

/**
 * What a page keeps for the way back to it, such as the rows that were selected. It belongs to the entry of the browser's
 * history, so that a new visit of the same page begins with nothing. It ends with a reload, and when the operator
 * signs out.
 */
const entries = new Map<string, Map<string, unknown>>();

/** Entries that are kept. The oldest are forgotten. */
const most = 50;

/** The router gives each entry of the history a key. */
function entryKey(): string {
  const state: unknown = window.history.state;
  if (typeof state !== 'object' || state === null || !('__TSR_key' in state)) return '';
  return String(state.__TSR_key);
}

export function keep(name: string, value: unknown): void {
  const key = entryKey();
  const entry = entries.get(key) ?? new Map<string, unknown>();
  entry.set(name, value);
  entries.delete(key);
  entries.set(key, entry);
  const [oldest] = entries.keys();
  if (entries.size > most && oldest !== undefined) entries.delete(oldest);
}

/** What was kept under the name at this entry of the history. The caller knows its type. */
export function kept<T>(name: string): T | undefined {
  return entries.get(entryKey())?.get(name) as T | undefined;
}

whenForgotten(() => entries.clear());
