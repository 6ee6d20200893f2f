import { isProblem, type PosternError } from '@postern/client';
import { h } from './dom.js';
import type { Form } from './form.js';
import { countDown } from './form.js';
import { type FormTexts, textOf } from './form-texts.js';

/** Names of the service for what a form calls by its own name. */
const fieldNames: Readonly<Record<string, string>> = { 'identity.value': 'identity', secret: 'code' };

/** Shows errors of fields in a form, by the names of the service. @returns false if the form has none of the fields */
export function showFaults(
  form: Form,
  errors: readonly { readonly field?: string | undefined; readonly message: string }[],
): boolean {
  const named = errors.flatMap(({ field = '', message }) => [
    [fieldNames[field] ?? field.split('.')[0] ?? '', message] as const,
    // In a login, the secret is a password.
    ...(field === 'secret' ? [['password', message] as const] : []),
  ]);
  return form.faults(Object.fromEntries(named));
}

/** Shows an error in a form: at its fields, as a countdown, or in words above them. */
export function showError(form: Form, error: PosternError, words: FormTexts, signal: AbortSignal): void {
  if (isProblem(error, 'validation_failed') && showFaults(form, error.errors)) return;
  if (isProblem(error) && error.retry !== null) {
    // Screen readers announce the text once, and not every second.
    const line = h('span', { role: 'timer', part: 'countdown' });
    form.issue(line);
    void countDown(line, words.wait, error.retry.countdown, signal).then(() => signal.aborted || form.issue());
    return;
  }
  form.issue(textOf(error, words));
}
