import type { FieldError, PosternError } from '@postern/client';
import { element } from './dom.js';
import { errorTexts, textOf } from './error-text.js';
import { countDown, type Form } from './form.js';
import type { FormTexts } from './form-texts.js';

/** The form's names of fields that have another name in the service. */
const fieldNames: Readonly<Record<string, string>> = {
  'identity.value': 'identity',
  'proof.secret': 'current_password',
  secret: 'code',
};

/** Shows the service's errors of fields in a form. @returns false if the form has none of the fields */
export async function showFieldErrors(form: Form, errors: readonly FieldError[], words: FormTexts): Promise<boolean> {
  const texts = await errorTexts(words);
  const messages = errors.flatMap(({ field = '', code }) => {
    const text = texts[`field_${code}`] ?? texts.problem_validation_failed ?? words.failed;
    const name = fieldNames[field] ?? field.split('.')[0] ?? '';
    // In a login, the secret is a password.
    return [[name, text] as const, ...(field === 'secret' ? [['password', text] as const] : [])];
  });
  return form.showFieldErrors(Object.fromEntries(messages));
}

/** What can show an issue, such as a form. */
export type IssuePlace = Pick<Form, 'showIssue'> & Partial<Form>;

/** Shows a countdown. Screen readers announce the text once, and not every second. */
export async function showWait(
  form: IssuePlace,
  countdown: Parameters<typeof countDown>[2],
  words: FormTexts,
  signal: AbortSignal,
): Promise<void> {
  const timer = element('span', { role: 'timer', part: 'countdown' });
  form.showIssue(timer);
  await countDown(timer, words.wait, countdown, signal);
  if (!signal.aborted) form.showIssue();
}

/** Shows an error in a form: at its fields, as a countdown, or in words above them. */
export async function showError(
  form: IssuePlace,
  error: PosternError,
  words: FormTexts,
  signal: AbortSignal,
): Promise<void> {
  if (error.kind === 'problem') {
    const { errors, retry } = error;
    const isInFields = errors.length > 0 && form.showFieldErrors !== undefined;
    if (isInFields && (await showFieldErrors(form as Form, errors, words))) return;
    if (retry !== null) return showWait(form, retry.countdown, words, signal);
  }
  const text = await textOf(error, words);
  if (!signal.aborted) form.showIssue(text);
}
