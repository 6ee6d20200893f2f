import type { Unsubscribe } from './platform.js';

/**
 * A value that changes. It is a Svelte store, and `current` stays the same object until something changes, as
 * `useSyncExternalStore` of React expects.
 */
export interface Store<T> {
  readonly current: T;
  /** Calls the listener at once and after each change. */
  readonly subscribe: (listener: (value: T) => void) => Unsubscribe;
  /** Calls the listener after each change. If it throws, the error becomes an unhandled rejection, and the others still run. */
  readonly onChange: (listener: (value: T, previous: T) => void) => Unsubscribe;
}

export interface MutableStore<T> extends Store<T> {
  current: T;
  /** @param first called before the listeners, if the value changes */
  set(value: T, first?: () => void): void;
}

/** Creates a store. @param onUse called for the first subscriber. It returns a function that is called after the last one has left */
export function createStore<T>(value: T, onUse?: () => Unsubscribe): MutableStore<T> {
  const listeners = new Set<(value: T, previous: T) => Promise<void>>();
  let stop: Unsubscribe | undefined;
  const store: MutableStore<T> = {
    current: value,
    onChange(listener) {
      // A new function for each subscription, so that one listener can subscribe twice. It runs at once, and because it is
      // asynchronous, what the listener throws is an unhandled rejection that stops nobody else.
      const subscription = async (next: T, previous: T) => listener(next, previous);
      listeners.add(subscription);
      if (listeners.size === 1) stop = onUse?.();
      return () => {
        if (listeners.delete(subscription) && listeners.size === 0) stop?.();
      };
    },
    subscribe(listener) {
      const end = store.onChange(listener);
      listener(store.current);
      return end;
    },
    set(next, first) {
      const previous = store.current;
      if (next === previous) return;
      store.current = next;
      first?.();
      for (const listener of [...listeners]) void listener(next, previous);
    },
  };
  return store;
}
