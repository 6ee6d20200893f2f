import { type Child, element, replaceContent } from '../base/dom.js';

/** A modal dialog whose content changes. The browser keeps the focus in it, and restores it when the dialog closes. */
export interface Frame {
  readonly node: HTMLDialogElement;
  /** The button that closes it. */
  readonly footer: HTMLButtonElement;
  readonly body: HTMLElement;
  /** Shows content, and opens the dialog. `onCancel` runs if the user closes it, unless other content comes first. */
  show(title: string, content: readonly Child[], onCancel: () => void): void;
  /** Closes it without `onCancel`. */
  close(): void;
}

export function createFrame(cancel: string, signal: AbortSignal): Frame {
  const title = element('h2', { id: 'dialog-title', part: 'heading' });
  const body = element('div', { class: 'body' });
  const footer = element(
    'button',
    { type: 'button', class: 'button', part: 'button', click: () => node.close() },
    cancel,
  );
  const node: HTMLDialogElement = element(
    'dialog',
    { part: 'dialog', 'aria-labelledby': 'dialog-title' },
    title,
    body,
    footer,
  );
  let onClose: () => void = () => undefined;
  // The event comes in a later task, when the dialog may already show something else.
  node.addEventListener('close', () => node.open || onClose());
  signal.addEventListener('abort', () => node.close());
  return {
    node,
    footer,
    body,
    show(text, content, onCancel) {
      replaceContent(title, text);
      replaceContent(body, ...content);
      if (!node.open) {
        onClose();
        node.showModal();
      }
      onClose = onCancel;
      const firstControl = body.querySelector<HTMLElement>('input, form button, button');
      firstControl?.focus();
    },
    close() {
      onClose = () => undefined;
      node.close();
    },
  };
}
