/**
 * `<postern-sign-in>` alone, for pages that need no other element.
 *
 * @packageDocumentation
 */
import { define } from '../base/define.js';
import type { DefineOptions } from '../base/options.js';
import { PosternSignIn } from './element.js';

export type { BaseEvents } from '../base/element.js';
export type { DefineOptions, OidcSignIn, SomeTexts, Texts } from '../base/options.js';
export type { SignInEvents } from './element.js';
export type { SignInTexts } from './texts.js';
export type { Authenticator } from './views.js';
export { PosternSignIn };

/**
 * Defines `<postern-sign-in>`. A second call does nothing. On a server it does nothing.
 *
 * @example
 * ```ts
 * import { defineSignIn } from '@postern/elements/sign-in';
 * import type { Postern } from '@postern/client';
 * declare const postern: Postern;
 * declare function idTokenOf(client: string | undefined, nonce: string): Promise<string | null>;
 *
 * defineSignIn({ postern, oidc: ({ client_ids, nonce }) => idTokenOf(client_ids[0], nonce) });
 * ```
 * @throws UsageError without a client
 */
export function defineSignIn(options: DefineOptions): void {
  define(options, [PosternSignIn]);
}

declare global {
  interface HTMLElementTagNameMap {
    'postern-sign-in': PosternSignIn;
  }
}
