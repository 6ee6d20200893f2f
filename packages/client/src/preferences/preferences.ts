import { coreOf } from '../core.js';
import { isPosternError, isProblem, type PosternError } from '../errors.js';
import { createTabs } from '../postern/tabs.js';
import { createStore } from '../store.js';
import type { Postern } from '../types.js';
import type { Preferences } from '../wire.js';
import type { PreferenceChanges, PreferencesSnapshot, PreferencesStore } from './types.js';
import { withChanges } from './with-changes.js';

const path = '/v1/preferences';

/** The time zone of the device. Some engines do not know it. */
const zoneOfDevice = (): string | undefined => globalThis.Intl?.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Reads and changes what the user wants to be notified about. A change is shown at once, also in other tabs, and undone if Postern refuses
 * it. If the user has no time zone, it sends the time zone of the device.
 *
 * @example
 * ```ts
 * import { createPreferences, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const store = createPreferences(postern);
 * store.subscribe(({ preferences }) => console.log(preferences?.categories.billing?.cells.email.value));
 * const isSaved = await store.change({ categories: { billing: { email: 'off' } } });
 * if (!isSaved) console.log(store.current.changeError?.message);
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createPreferences(postern: Postern): PreferencesStore {
  const core = coreOf(postern);
  /** The last answer of Postern. */
  let known: Preferences | null = null;
  /** The changes that Postern has not confirmed yet, in their order. */
  const pending = new Set<{ readonly changes: PreferenceChanges }>();
  let loading = true;
  let error: PosternError | null = null;
  let changeError: PosternError | null = null;
  /** Null: nobody is signed in. Undefined: not known yet. */
  let user: string | null | undefined;
  /** Postern does not know the name of the zone. */
  let isZoneRefused = false;
  let tabs: ReturnType<typeof createTabs> | undefined;
  /** One request after the other, so that no answer is older than what is shown. */
  let turn: Promise<unknown> = Promise.resolve();
  let nextRead: Promise<void> | undefined;

  const store = createStore<PreferencesSnapshot>({ preferences: null, loading, error, changeError }, () => {
    tabs = openTabs();
    const ends = [postern.onChange(followUser), core.onResume(() => void reload()), core.onClose(() => stop())];
    const stop = () => {
      tabs?.close();
      tabs = undefined;
      for (const end of ends) end();
    };
    void reload();
    return stop;
  });

  /** A separate channel, because most pages show no preferences. */
  function openTabs() {
    const opened = createTabs(`postern ${core.base} preferences`, core.tabs.isOn, () => void reload());
    opened.open();
    return opened;
  }
  const userNow = () => ('user_id' in postern.current ? postern.current.user_id : null);

  /** Forgets the data of a former user. @returns whether the user has changed */
  function forgetFormerUser(): boolean {
    const [former, next] = [user, userNow()];
    if (postern.current.status === 'starting' || next === former) return false;
    user = next;
    if (former === undefined) return false;
    pending.clear();
    [known, error, changeError, loading] = [null, null, null, next !== null];
    return true;
  }
  function followUser(): void {
    if (!forgetFormerUser()) return;
    show();
    if (user !== null) void reload();
  }
  function show(): void {
    let preferences = known;
    for (const { changes } of pending) preferences &&= withChanges(preferences, changes);
    store.set({ preferences, loading, error, changeError });
  }
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result;
    return result;
  }
  const request = (changes?: PreferenceChanges) =>
    core.call<Preferences>({ path, ...(changes && { method: 'PATCH', body: changes }), expects: 'categories' });

  /** Reads, unless a read waits already. Never rejects. */
  function reload(): Promise<void> {
    nextRead ??= inTurn(async () => {
      nextRead = undefined;
      await postern.ready().catch(() => undefined);
      forgetFormerUser();
      const asking = user;
      let failure: PosternError | null = null;
      try {
        const answer = await request();
        if (asking === userNow()) known = answer;
      } catch (cause) {
        if (isPosternError(cause)) failure = cause;
        else core.onError(cause);
      }
      if (asking !== userNow()) return;
      error = failure?.kind === 'signed_out' ? null : failure;
      loading = false;
      show();
      await sendZone();
    });
    return nextRead;
  }

  /** The first page that shows preferences gives the user a time zone. */
  async function sendZone(): Promise<void> {
    const zone = zoneOfDevice();
    if (known === null || known.time_zone !== null || error !== null || isZoneRefused || zone === undefined) return;
    const asking = user;
    try {
      const answer = await request({ time_zone: zone });
      if (asking !== userNow()) return;
      known = answer;
      show();
    } catch (cause) {
      // Otherwise the next read tries again.
      isZoneRefused = isProblem(cause, 'validation_failed');
      if (!isPosternError(cause)) core.onError(cause);
    }
  }

  async function change(changes: PreferenceChanges): Promise<boolean> {
    forgetFormerUser();
    const one = { changes };
    pending.add(one);
    changeError = null;
    show();
    return inTurn(async () => {
      let failure: unknown;
      let answer: Preferences | undefined;
      try {
        // The user has signed out meanwhile: nothing is sent.
        answer = pending.has(one) ? await request(changes) : undefined;
      } catch (cause) {
        failure = cause;
      }
      if (!pending.delete(one)) return false;
      if (answer !== undefined) {
        known = answer;
        show();
        const channel = tabs ?? openTabs();
        channel.notify('preferences');
        if (channel !== tabs) channel.close();
        return true;
      }
      if (isPosternError(failure)) changeError = failure;
      else core.onError(failure);
      show();
      // The request may have taken effect anyway, or the categories have changed.
      void reload();
      return false;
    });
  }
  return Object.assign(store, { change, reload });
}
