import type { InboxOptions, Postern } from '@postern/client';
import type { InboxTexts } from '../inbox/texts.js';

/** Every text of the elements. `{name}` is replaced. */
export interface Texts extends InboxTexts {}

/** What the elements of a page share. */
export interface DefineOptions {
  /** The client of all elements. The `postern` property of an element goes first. */
  readonly postern: Postern;
  /** By default each tab has a stream of its own, because policies with Trusted Types refuse shared workers. */
  readonly inbox?: InboxOptions | undefined;
  /** Your own texts and languages, by language, such as `es` or `es-MX`. A missing text is English. */
  readonly texts?: Readonly<Record<string, Partial<Texts>>> | undefined;
  /** By default the global one. */
  readonly registry?: CustomElementRegistry | undefined;
}
