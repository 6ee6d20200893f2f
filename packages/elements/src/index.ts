/**
 * Custom elements of Postern for any page. Importing defines nothing and changes nothing: call `defineElements`. On a server it
 * does nothing.
 *
 * @packageDocumentation
 */
import { PosternAccount } from './account/element.js';
import { define } from './base/define.js';
import type { DefineOptions } from './base/options.js';
import { PosternInbox } from './inbox/element.js';
import { PosternPreferences } from './preferences/element.js';
import { PosternSignIn } from './sign-in/element.js';
import { PosternStepUp } from './step-up/element.js';

export * from './account/index.js';
export * from './inbox/index.js';
export type { PosternIntrinsicElements, PosternVueComponents } from './jsx.js';
export * from './preferences/index.js';
export * from './sign-in/index.js';
export * from './step-up/index.js';

/** A class of this package that has a tag. */
export type ElementConstructor =
  | typeof PosternAccount
  | typeof PosternInbox
  | typeof PosternPreferences
  | typeof PosternSignIn
  | typeof PosternStepUp;

/**
 * Defines the elements that you pass, by default all of them. A second call does nothing. A page that needs one element only
 * loads less if it imports it from its own path, such as `@postern/elements/inbox`.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 * import { defineElements } from '@postern/elements';
 *
 * const postern = createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() });
 * defineElements({ postern });
 * ```
 * @throws UsageError without a client
 */
export function defineElements(options: DefineOptions, ...elements: readonly ElementConstructor[]): void {
  define(
    options,
    elements.length > 0 ? elements : [PosternSignIn, PosternAccount, PosternInbox, PosternPreferences, PosternStepUp],
  );
}
