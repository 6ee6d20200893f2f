import { type ComponentType, type ReactNode, Suspense, use } from 'react';
import { loadCode } from './load-code.js';

interface LazyPage {
  (): ReactNode;
  /** The router calls it before it opens the page, and while the pointer is over a link to it. */
  readonly preload: () => Promise<void>;
}

/** A page whose code is loaded when it is opened. If that fails, opening it again tries again. */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name): LazyPage {
  let loaded: ComponentType | undefined;
  let loading: Promise<ComponentType> | undefined;
  function read(): Promise<ComponentType> {
    loading ??= loadCode(load).then(
      (module) => {
        loaded = module[name];
        return loaded;
      },
      (error) => {
        loading = undefined;
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
  const preload = () =>
    read().then(
      () => undefined,
      () => undefined,
    );
  return Object.assign(Page, { preload });
}
