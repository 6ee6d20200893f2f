/**
 * `<postern-account>` alone, for pages that need no other element.
 *
 * @packageDocumentation
 */
import { define } from '../base/define.js';
import type { DefineOptions } from '../base/options.js';
import { PosternAccount } from './element.js';

export type { BaseEvents } from '../base/element.js';
export type { DefineOptions, OidcSignIn, SomeTexts, Texts } from '../base/options.js';
export type { AccountEvents } from './element.js';
export type { AccountChange } from './questions.js';
export type { AccountSection } from './sections.js';
export type { AccountTexts } from './texts.js';
export { PosternAccount };

/**
 * Defines `<postern-account>`. A second call does nothing. On a server it does nothing.
 *
 * @example
 * ```ts
 * import { defineAccount } from '@postern/elements/account';
 * import type { Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * defineAccount({ postern });
 * ```
 * @throws UsageError without a client
 */
export function defineAccount(options: DefineOptions): void {
  define(options, [PosternAccount]);
}

declare global {
  interface HTMLElementTagNameMap {
    'postern-account': PosternAccount;
  }
}
