/**
 * The worker that solves a challenge of the human check, so that the page stays alive. Its file needs no other file.
 *
 * @packageDocumentation
 */
import { search, type Work } from './search.js';

/** The part of a worker that is used. The types of this package need no library of workers. */
interface Scope {
  onmessage?: (event: { readonly data: Work }) => void;
  postMessage(found: number | null): void;
}

const scope = globalThis as unknown as Scope;
scope.onmessage = ({ data }) => scope.postMessage(search(data, 0) ?? null);
