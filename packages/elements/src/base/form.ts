import { stopwatch, wait } from '@postern/client/internal';
import { type Child, digitsOf, element, icon, linkButton, replaceContent } from './dom.js';
import type { FormTexts } from './form-texts.js';
import { fill } from './texts.js';

/** The purpose of a field. The keyboard and the suggestions of browsers and password managers depend on it. */
export type FieldKind =
  | 'text'
  | 'name'
  | 'identity'
  | 'email'
  | 'tel'
  | 'code'
  | 'password'
  | 'new-password'
  | 'pin'
  | 'new-pin';

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly hint?: string | undefined;
  readonly value?: string | undefined;
  /** An empty field is accepted. */
  readonly isOptional?: boolean | undefined;
  /** The field is shown when the user asks for it by a link with this text, or when it has an error. */
  readonly reveal?: string | undefined;
  /** The form is submitted once when the field has this number of characters, without spaces. */
  readonly length?: number | undefined;
  /** Only password managers see the field. */
  readonly isHidden?: boolean | undefined;
  /** Further suggestions of the browser, such as `webauthn` for passkeys. */
  readonly autocomplete?: string | undefined;
}

interface Field {
  readonly node: HTMLElement;
  readonly input: HTMLInputElement;
  readonly isOptional: boolean;
  readonly isHidden?: boolean | undefined;
  showError(text: string): void;
}

const numeric = { type: 'text', inputmode: 'numeric', dir: 'ltr' };
const secret = { type: 'password', dir: 'ltr' };
const plain = { autocapitalize: 'none', spellcheck: 'false' };
const controls: Readonly<Record<FieldKind, Readonly<Record<string, string>>>> = {
  text: { type: 'text', dir: 'auto', autocomplete: 'off' },
  name: { type: 'text', dir: 'auto', autocomplete: 'name' },
  identity: { type: 'text', dir: 'auto', autocomplete: 'username', ...plain },
  email: { type: 'email', dir: 'ltr', autocomplete: 'email', ...plain },
  tel: { type: 'tel', dir: 'ltr', autocomplete: 'tel' },
  code: { ...numeric, autocomplete: 'one-time-code', class: 'code', ...plain },
  password: { ...secret, autocomplete: 'current-password' },
  'new-password': { ...secret, autocomplete: 'new-password' },
  pin: { ...secret, inputmode: 'numeric', autocomplete: 'off', class: 'pin' },
  'new-pin': { ...secret, inputmode: 'numeric', autocomplete: 'off', class: 'pin' },
};
const managed = { class: 'sr-only', readonly: '', tabindex: '-1', 'aria-hidden': 'true' };
const eyePath =
  'M1.8 10S4.8 4.8 10 4.8 18.2 10 18.2 10 15.2 15.2 10 15.2 1.8 10 1.8 10zM10 7.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8z';

function createField(
  {
    name,
    label,
    kind,
    hint,
    value = '',
    isOptional = false,
    reveal,
    length,
    isHidden,
    autocomplete = '',
  }: FieldOptions,
  words: FormTexts,
): Field {
  const id = `field-${name}`;
  const { class: className = '', ...attributes } = controls[kind];
  const descriptionIds = [hint && `${id}-hint`, `${id}-error`].filter(Boolean).join(' ');
  const part = kind === 'code' ? 'input code' : 'input';
  const input = element('input', {
    ...attributes,
    id,
    name,
    part,
    class: `input ${className}`,
    'aria-describedby': descriptionIds,
    ...(autocomplete && { autocomplete: `${attributes.autocomplete} ${autocomplete}` }),
  });
  input.value = value;
  if (!isOptional) input.setAttribute('aria-required', 'true');
  const errorText = element('p', { class: 'error small', part: 'issue', id: `${id}-error` });
  const showError = (text: string) => {
    replaceContent(errorText, text);
    if (text === '') input.removeAttribute('aria-invalid');
    else input.setAttribute('aria-invalid', 'true');
  };
  if (isHidden) {
    for (const [name, text] of Object.entries(managed)) input.setAttribute(name, text);
    return { node: input, input, isOptional, isHidden, showError };
  }
  let submitted = '';
  input.addEventListener('input', () => {
    showError('');
    const text = digitsOf(input.value);
    if ([...text].length !== length || text === submitted) return;
    submitted = text;
    input.form?.requestSubmit();
  });
  const content = element(
    'div',
    { class: 'field', part: 'field', hidden: reveal !== undefined },
    element(
      'label',
      { for: id, part: 'label' },
      label,
      isOptional && element('span', { class: 'muted', part: 'hint' }, ` ${words.optional}`),
    ),
    // A secret runs from left to right in every page, and the button stands at its end.
    attributes.type === 'password'
      ? element('div', { class: 'control', dir: 'ltr' }, input, showPasswordButton(input, words))
      : element('div', { class: 'control' }, input),
    hint && element('p', { class: 'muted small', part: 'hint', id: `${id}-hint` }, hint),
    errorText,
  );
  if (reveal === undefined) return { node: content, input, isOptional, showError };
  const show = () => {
    content.hidden = false;
    revealLink.remove();
  };
  const revealLink = linkButton(reveal, () => {
    show();
    input.focus();
  });
  const showInField = (text: string) => {
    show();
    showError(text);
  };
  return { node: element('div', {}, revealLink, content), input, isOptional, showError: showInField };
}

/** A button that shows and hides the text of a password field. */
function showPasswordButton(input: HTMLInputElement, words: FormTexts): HTMLElement {
  const attributes = {
    type: 'button',
    class: 'icon eye',
    part: 'button-reveal',
    'aria-pressed': 'false',
    'aria-label': words.show_password,
  };
  const button = element('button', attributes, icon(eyePath));
  button.addEventListener('click', () => {
    const isShown = input.type === 'text';
    input.type = isShown ? 'password' : 'text';
    button.setAttribute('aria-pressed', `${!isShown}`);
  });
  return button;
}

export interface FormOptions {
  readonly words: FormTexts;
  readonly fields: readonly FieldOptions[];
  /** The text of the main button. */
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** Called with the values when no required field is empty. The form is busy until the promise settles. */
  readonly onSubmit: (values: Readonly<Record<string, string>>) => Promise<unknown>;
  readonly labelledBy?: string;
}

export interface Form {
  readonly node: HTMLFormElement;
  /** While a form is busy, its buttons do nothing, and keep the focus. The button that was pressed shows it: by default the main one. */
  setBusy(isBusy: boolean, pressed?: HTMLElement): void;
  /** Shows an error of the whole form. */
  showIssue(...text: Child[]): void;
  /** Shows errors of fields, by name. @returns false if the form has none of them */
  showFieldErrors(texts: Readonly<Record<string, string>>): boolean;
  focus(): void;
  clear(name: string): void;
}

/** Shows that a button waits for an answer. */
export const showBusy = (button: HTMLElement, isBusy: boolean) => button.setAttribute('aria-disabled', `${isBusy}`);

/** A form with labelled fields, errors that screen readers announce, and one main button. */
export function createForm(options: FormOptions): Form {
  const { words } = options;
  const fields = new Map(options.fields.map((field) => [field.name, createField(field, words)]));
  const issueBox = element('div', { class: 'issue', part: 'issue', role: 'alert' });
  const className = options.isDangerous ? 'button danger' : 'button primary';
  const part = options.isDangerous ? 'button button-danger' : 'button button-primary';
  const submit = element('button', { type: 'submit', class: className, part }, options.submit);
  const nodes = [...fields.values()].map(({ node }) => node);
  const attributes = { part: 'form', novalidate: true, 'aria-labelledby': options.labelledBy };
  const node = element('form', attributes, issueBox, ...nodes, submit);

  let busyButton: HTMLElement = submit;

  const form: Form = {
    node,
    setBusy(isBusy, pressed = submit) {
      node.setAttribute('aria-busy', `${isBusy}`);
      showBusy(busyButton, false);
      busyButton = pressed;
      showBusy(busyButton, isBusy);
    },
    showIssue: (...text) => replaceContent(issueBox, ...text),
    showFieldErrors(texts) {
      let first: Field | undefined;
      for (const [name, text] of Object.entries(texts)) {
        const field = fields.get(name);
        field?.showError(text);
        first ??= field;
      }
      first?.input.focus();
      return first !== undefined;
    },
    focus: () => ([...fields.values()].find(({ isHidden }) => !isHidden)?.input ?? submit).focus(),
    clear(name) {
      const input = fields.get(name)?.input;
      if (input) input.value = '';
    },
  };
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    if (node.getAttribute('aria-busy') === 'true') return;
    form.showIssue();
    const missing = [...fields].filter(([, { input, isOptional }]) => !isOptional && input.value.trim() === '');
    if (missing.length > 0) {
      form.showFieldErrors(Object.fromEntries(missing.map(([name]) => [name, words.missing])));
      return;
    }
    form.setBusy(true);
    const values = Object.fromEntries([...fields].map(([name, { input }]) => [name, input.value]));
    void options.onSubmit(values).finally(() => form.setBusy(false));
  });
  return form;
}

/** Counts down in a text such as "Try again in {time}.", until the signal aborts or the time is over. */
export async function countDown(
  node: Element,
  text: string,
  countdown: (options: { readonly signal: AbortSignal }) => AsyncIterable<number>,
  signal: AbortSignal,
): Promise<void> {
  for await (const seconds of countdown({ signal })) {
    const time = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;
    replaceContent(node, fill(text, { time }));
  }
}

/** Yields the seconds that are left, once a second. A clock that is set back does not prolong it. */
async function* secondsOf(milliseconds: number, signal: AbortSignal): AsyncGenerator<number> {
  const elapsed = stopwatch();
  for (;;) {
    const seconds = Math.max(0, Math.ceil((milliseconds - elapsed()) / 1000));
    yield seconds;
    if (seconds === 0 || signal.aborted) return;
    await wait(1000, signal);
  }
}

/** A code is valid for five minutes. If the time for the next one is later than that, the clock was set back. */
const maxResendMs = 300_000;

/** Disables the button for a new code until the user may request one, and shows the time that remains. */
export async function disableUntil(
  button: HTMLButtonElement,
  time: number,
  words: { readonly resend: string; readonly resend_in: string },
  signal: AbortSignal,
): Promise<void> {
  const left = Math.min(time - Date.now(), maxResendMs);
  if (left <= 0) return;
  button.disabled = true;
  await countDown(button, words.resend_in, ({ signal: end }) => secondsOf(left, end), signal);
  if (signal.aborted) return;
  button.disabled = false;
  replaceContent(button, words.resend);
}
