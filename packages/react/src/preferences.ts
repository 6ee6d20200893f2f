import { createPreferences, type PreferencesSnapshot, type PreferencesStore } from '@postern/client';
import { useMemo, useSyncExternalStore } from 'react';
import { type Scope, useScope } from './context.js';
import { getOrCreate, unsubscribeLater } from './shared.js';

/** What the user wants to be notified about, and what changes it. */
export interface UsePreferences extends PreferencesSnapshot, Pick<PreferencesStore, 'change' | 'reload'> {
  /** `pending` until the preferences were read, or could not be read: see `error`. */
  readonly status: 'pending' | 'ready';
}

function sourceOf({ postern, snapshot }: Scope): PreferencesSource {
  const store = () => getOrCreate(postern, 'preferences', () => createPreferences(postern));
  // A server must keep no data of a user.
  const first: PreferencesSnapshot = {
    ...{ preferences: null, error: null, changeError: null },
    loading: snapshot?.session !== null,
  };
  return {
    current: () => store().current,
    first: () => first,
    subscribe: (listener: () => void) => unsubscribeLater(store().onChange(listener)),
    change: (changes) => store().change(changes),
    reload: () => store().reload(),
  };
}
interface PreferencesSource extends Pick<PreferencesStore, 'change' | 'reload'> {
  current(): PreferencesSnapshot;
  first(): PreferencesSnapshot;
  subscribe(listener: () => void): () => void;
}

/**
 * What the user wants to be notified about, and where. A change is shown at once in all components and tabs, and undone if Postern refuses it.
 *
 * @example
 * ```tsx
 * import { usePreferences } from '@postern/react';
 *
 * export function BillsByMail() {
 *   const { preferences, change, changeError } = usePreferences();
 *   const cell = preferences?.categories.billing?.cells.email;
 *   if (!cell) return <p>One moment…</p>;
 *   const set = (isOn: boolean) => change({ categories: { billing: { email: isOn ? 'on' : 'off' } } });
 *   return (
 *     <label>
 *       <input type="checkbox" checked={cell.value === 'on'} onChange={({ target }) => set(target.checked)} />
 *       Bills by mail {changeError && 'The change was not saved.'}
 *     </label>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function usePreferences(): UsePreferences {
  const scope = useScope();
  const source = useMemo(() => sourceOf(scope), [scope]);
  const shown = useSyncExternalStore(source.subscribe, source.current, source.first);
  const status = shown.loading && shown.preferences === null ? 'pending' : 'ready';
  const { change, reload } = source;
  return useMemo(() => ({ ...shown, status, change, reload }), [shown, status, change, reload]);
}
