import { onForget } from './drafts.js';

/**
 * State that a page stores for when the operator comes back to it, such as the selected rows. It belongs to the entry of
 * the browser's history, so that a new visit of the same page begins with nothing. It ends with a reload, and when the
 * operator signs out.
 */
const entries = new Map<string, Map<string, unknown>>();

/** The maximum number of entries. The oldest are deleted. */
const maxEntries = 50;

/** The router gives each entry of the history a key. */
function entryKey(): string {
  const state: unknown = window.history.state;
  if (typeof state !== 'object' || state === null || !('__TSR_key' in state)) return '';
  return String(state.__TSR_key);
}

export function storeInEntry(name: string, value: unknown): void {
  const key = entryKey();
  const entry = entries.get(key) ?? new Map<string, unknown>();
  entry.set(name, value);
  entries.delete(key);
  entries.set(key, entry);
  const [oldest] = entries.keys();
  if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
}

/** The value that was stored under the name at this entry of the history. The caller knows its type. */
export function readFromEntry<T>(name: string): T | undefined {
  return entries.get(entryKey())?.get(name) as T | undefined;
}

onForget(() => entries.clear());
