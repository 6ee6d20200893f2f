import { isProblem, type PosternError } from '@postern/client';
import { element } from './dom.js';
import type { Form } from './form.js';
import { countDown } from './form.js';
import { type FormTexts, textOf } from './form-texts.js';

/** The form's names of fields that have another name in the service. */
const fieldNames: Readonly<Record<string, string>> = { 'identity.value': 'identity', secret: 'code' };

/** Shows the service's errors of fields in a form. @returns false if the form has none of the fields */
export function showFieldErrors(
  form: Form,
  errors: readonly { readonly field?: string | undefined; readonly message: string }[],
): boolean {
  const messages = errors.flatMap(({ field = '', message }) => [
    [fieldNames[field] ?? field.split('.')[0] ?? '', message] as const,
    // In a login, the secret is a password.
    ...(field === 'secret' ? [['password', message] as const] : []),
  ]);
  return form.showFieldErrors(Object.fromEntries(messages));
}

/** Shows an error in a form: at its fields, as a countdown, or in words above them. */
export function showError(form: Form, error: PosternError, words: FormTexts, signal: AbortSignal): void {
  if (isProblem(error, 'validation_failed') && showFieldErrors(form, error.errors)) return;
  if (isProblem(error) && error.retry !== null) {
    // Screen readers announce the text once, and not every second.
    const timer = element('span', { role: 'timer', part: 'countdown' });
    form.showIssue(timer);
    void countDown(timer, words.wait, error.retry.countdown, signal).then(() => signal.aborted || form.showIssue());
    return;
  }
  form.showIssue(textOf(error, words));
}
