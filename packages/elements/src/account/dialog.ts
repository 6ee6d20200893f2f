import { isPosternError, isProblem } from '@postern/client';
import { type Child, element, replaceContent } from '../base/dom.js';
import { showError } from '../base/errors.js';
import { createForm, type Form } from '../base/form.js';
import { dialogStyle } from './dialog-style.js';
import { prove } from './prove.js';
import type { Dialog, Step } from './questions.js';
import type { AccountTexts } from './texts.js';

/**
 * One modal dialog for all changes. This module is loaded with the first of them. The browser keeps the focus in the dialog, and gives it back.
 */
export function createDialog(words: AccountTexts, signal: AbortSignal, report: (error: unknown) => void): Dialog {
  const title = element('h2', { id: 'dialog-title', part: 'heading' });
  const body = element('div', { class: 'body' });
  const cancel = element(
    'button',
    { type: 'button', class: 'link small', part: 'link', click: () => node.close() },
    words.cancel,
  );
  const foot = element('div', { class: 'row end' }, cancel);
  const node: HTMLDialogElement = element(
    'dialog',
    { part: 'dialog', 'aria-labelledby': 'dialog-title' },
    title,
    body,
    foot,
  );
  let onClose: () => void = () => undefined;
  node.addEventListener('close', () => onClose());
  signal.addEventListener('abort', () => node.close());

  function show(text: string, content: readonly Child[], cancelled: () => void): void {
    title.textContent = text;
    replaceContent(body, ...content);
    onClose = cancelled;
    if (!node.open) node.showModal();
    const first = body.querySelector<HTMLElement>('input, form button, button');
    first?.focus();
  }

  function ask(first: Step): Promise<boolean> {
    return new Promise((resolve) => {
      const next = (step: Step) => {
        const { submit, fields = [], lead = [], isDangerous = false } = step;
        // A step that only shows what is done, such as recovery codes.
        const isLast = step.fields === undefined && !isDangerous && step !== first;
        foot.hidden = isLast;
        const view = () => show(step.title, [...lead, form.node], () => resolve(isLast));
        const form: Form = createForm({
          ...{ words, fields, submit, isDangerous, labelledBy: 'dialog-title' },
          async onSubmit(values) {
            try {
              const following = await step.act(values);
              if (signal.aborted) return;
              if (following !== undefined) return next(following);
              onClose = () => undefined;
              node.close();
              resolve(true);
            } catch (error) {
              if (signal.aborted) return;
              if (!isPosternError(error) || error.kind === 'usage') throw error;
              // The user closed the dialog.
              if (!node.open) return resolve(false);
              // A proof took the place of the form.
              if (!form.node.isConnected) view();
              report(error);
              if (isProblem(error, 'last_way_in')) form.showIssue(words.last_way_in);
              else showError(form, error, words, signal);
            }
          },
        });
        view();
      };
      next(first);
    });
  }
  const dialog: Dialog = {
    ...{ node, style: dialogStyle, ask, show },
    prove: (request) => prove(request, { words, dialog, signal, report }) as Promise<never>,
  };
  return dialog;
}
