/**
 * `<postern-step-up>` alone, for pages that need no other element.
 *
 * @packageDocumentation
 */
import { define } from '../base/define.js';
import type { DefineOptions } from '../base/options.js';
import { PosternStepUp } from './element.js';

export type { BaseEvents } from '../base/element.js';
export type { DefineOptions, SomeTexts, Texts } from '../base/options.js';
export type { StepUpEvents } from './element.js';
export type { StepUpTexts } from './texts.js';
export { PosternStepUp };

/**
 * Defines `<postern-step-up>`. A second call does nothing. On a server it does nothing.
 *
 * @example
 * ```ts
 * import { defineStepUp } from '@postern/elements/step-up';
 * import type { Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * defineStepUp({ postern });
 * ```
 * @throws UsageError without a client
 */
export function defineStepUp(options: DefineOptions): void {
  define(options, [PosternStepUp]);
}

declare global {
  interface HTMLElementTagNameMap {
    'postern-step-up': PosternStepUp;
  }
}
