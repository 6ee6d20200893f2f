import { type ComponentType, type ReactNode, Suspense, use } from 'react';
import { loadCode } from './load-code.js';

interface LazyPage {
  (): ReactNode;
  /** The router calls it before it opens the page, and while the pointer is over a link to it. */
  readonly preload: () => Promise<void>;
}

/** A function that forgets which pages could not be loaded, so that they are tried again. */
const failures = new Set<() => void>();

/** Lets pages whose code could not be loaded try again when they are next drawn. */
export function forgetFailures(): void {
  for (const forget of failures) forget();
  failures.clear();
}

/** A page whose code is loaded when it is opened. */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name): LazyPage {
  let loaded: ComponentType | undefined;
  let loading: Promise<ComponentType> | undefined;
  const forget = () => {
    loading = undefined;
  };
  // A failed attempt stays until it is forgotten: React draws the page again after it, and would otherwise load without end.
  function read(): Promise<ComponentType> {
    loading ??= loadCode(load).then(
      (module) => {
        loaded = module[name];
        return loaded;
      },
      (error) => {
        failures.add(forget);
        throw error;
      },
    );
    return loading;
  }
  const Content = () => {
    const Component = loaded ?? use(read());
    return <Component />;
  };
  const Page = () => (
    <Suspense>
      <Content />
    </Suspense>
  );
  return Object.assign(Page, { preload: () => read().then(() => undefined, forget) });
}
