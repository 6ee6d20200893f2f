import { UsageError } from '@postern/client/internal';
import type { DefineOptions } from './options.js';
import { baseStyle } from './style.js';

/** A class that can be defined: its tag, and the style of its shadow root. */
export interface DefinableClass {
  new (): HTMLElement;
  readonly tag: string;
  readonly style: string;
}

/**
 * Defines elements, unless their tags are taken. On a server it does nothing. Each definition has its own class, so that no module
 * keeps the options.
 *
 * @throws UsageError without a client
 */
export function define(options: DefineOptions, elements: readonly DefinableClass[]): void {
  const registry = options?.registry ?? globalThis.customElements;
  if (registry === undefined) return;
  if (typeof options?.postern?.subscribe !== 'function') {
    throw new UsageError('`postern` must be a client that createPostern made.');
  }
  for (const element of elements) {
    if (registry.get(element.tag) !== undefined) continue;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(baseStyle + element.style);
    const DefinedElement = class extends element {};
    Object.assign(DefinedElement, { settings: { ...options, sheets: [sheet] } });
    registry.define(element.tag, DefinedElement);
  }
}
