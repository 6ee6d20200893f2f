/**
 * `<postern-inbox>` alone, for pages that need no other element.
 *
 * @packageDocumentation
 */
import { define } from '../base/define.js';
import type { DefineOptions } from '../base/options.js';
import { PosternInbox } from './element.js';

export type { BaseEvents } from '../base/element.js';
export type { DefineOptions, SomeTexts, Texts } from '../base/options.js';
export type { InboxEvents } from './element.js';
export type { ActionDetail } from './item-actions.js';
export type { InboxTexts } from './texts.js';
export { PosternInbox };

/**
 * Defines `<postern-inbox>`. A second call does nothing. On a server it does nothing.
 *
 * @example
 * ```ts
 * import { defineInbox } from '@postern/elements/inbox';
 * import type { Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * defineInbox({ postern, texts: { en: { inbox: { inbox: 'News', type_payment: 'Payments' } } } });
 * ```
 * @throws UsageError without a client
 */
export function defineInbox(options: DefineOptions): void {
  define(options, [PosternInbox]);
}

declare global {
  interface HTMLElementTagNameMap {
    'postern-inbox': PosternInbox;
  }
}
