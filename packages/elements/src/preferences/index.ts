/**
 * `<postern-preferences>` alone, for pages that need no other element.
 *
 * @packageDocumentation
 */
import { define } from '../base/define.js';
import type { DefineOptions } from '../base/options.js';
import { PosternPreferences } from './element.js';

export type { BaseEvents } from '../base/element.js';
export type { DefineOptions, SomeTexts, Texts } from '../base/options.js';
export type { PreferencesEvents } from './element.js';
export type { PreferencesTexts } from './texts.js';
export type { Subscription } from './topics.js';
export { PosternPreferences };

/**
 * Defines `<postern-preferences>`. A second call does nothing. On a server it does nothing.
 *
 * @example
 * ```ts
 * import { definePreferences } from '@postern/elements/preferences';
 * import type { Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * definePreferences({ postern });
 * ```
 * @throws UsageError without a client
 */
export function definePreferences(options: DefineOptions): void {
  define(options, [PosternPreferences]);
}

declare global {
  interface HTMLElementTagNameMap {
    'postern-preferences': PosternPreferences;
  }
}
