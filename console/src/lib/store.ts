import { useSyncExternalStore } from 'react';

/** A value outside React to which components can subscribe. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** @returns the function that ends the subscription */
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** Resolves with the first value, now or later, that fulfils the condition. */
export function firstValue<T, V extends T>(store: Store<T>, matches: (value: T) => value is V): Promise<V> {
  return new Promise((resolve) => {
    const check = () => {
      const value = store.get();
      if (!matches(value)) return;
      stop();
      resolve(value);
    };
    const stop = store.subscribe(check);
    check();
  });
}
