import { escapeHtml } from '../../lib/html.js';

/** Text of the document as HTML. `code` is all that it has of Markdown. */
export const markdown = (text: unknown): string => textOf(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

export const textOf = (value: unknown) => escapeHtml(String(value ?? ''));

/** A wide table scrolls in its own box, which the keyboard reaches. */
export const table = (heads: readonly string[], rows: readonly string[]): string =>
  `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
