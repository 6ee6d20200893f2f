import type { Work } from './search.js';

/** The part of a `Worker` that is used, so that the types need no DOM. */
export interface SearchWorker {
  onmessage: ((event: { readonly data: number | null }) => void) | null;
  onerror: ((event: { preventDefault(): void }) => void) | null;
  postMessage(work: Work): void;
  terminate(): void;
}
declare const Worker: new (url: URL, options: { type: 'module' }) => SearchWorker;

/** Starts the worker. Bundlers recognise this form of the call, and write its file. React Native gets an empty file instead of this one. */
export const openWorker = (): SearchWorker =>
  new Worker(new URL('./human-check-worker.js', import.meta.url), { type: 'module' });
