import type { ToTab, ToWorker } from './messages.js';

/** The part of a `SharedWorker` that is used, so that the types need no DOM. */
export interface TabWorker {
  onerror: (() => void) | null;
  readonly port: {
    onmessage: ((event: { readonly data: ToTab }) => void) | null;
    postMessage(message: ToWorker): void;
    close(): void;
  };
}
declare const SharedWorker: new (url: string | URL, options: { type: 'module'; name: string }) => TabWorker;

/**
 * Starts the worker, or connects to the one that other tabs have started. The number of the protocol is in the name, so that tabs
 * of an older version of the app keep their own worker. Bundlers recognise the second form of the call, and write the file of the
 * worker. React Native gets an empty file instead of this one, because it has no `import.meta`.
 *
 * @param url where the app serves the file, if its bundler does not write it
 */
export function openWorker(url: string | URL | undefined): TabWorker {
  if (url !== undefined) return new SharedWorker(url, { type: 'module', name: 'postern-2' });
  return new SharedWorker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'postern-2' });
}
