import type { PendingAddress, PendingTotp } from '@postern/client';
import { digitsOf, element, linkButton, replaceContent } from '../base/dom.js';
import { picture } from '../base/qr-picture.js';
import { fill } from '../base/texts.js';
import { type DialogTexts, withDialogTexts } from './dialog-texts.js';
import type { Step } from './questions.js';
import type { Context } from './sections.js';

/** Shows the key of an authenticator app, and asks for its first code. */
export function confirmApp(context: Context, pending: PendingTotp): Step {
  const words = withDialogTexts(context.words);
  return {
    title: words.authenticator_app,
    submit: words.continue,
    introduction: [
      element('p', { part: 'hint' }, words.scan_qr),
      picture(pending.uri, words.qr),
      ...appKey(words, pending),
    ],
    fields: [{ name: 'code', kind: 'code', label: words.authenticator_code }],
    async onSubmit({ code = '' }) {
      const { recovery_codes } = await pending.confirm(digitsOf(code));
      return showCodes({ words }, recovery_codes);
    },
  };
}

/** Asks for the code that was sent to a new address. */
export function confirmAddress({ words: shown }: Context, pending: PendingAddress, to: string): Step {
  const words = withDialogTexts(shown);
  return {
    title: words.confirm_address,
    submit: words.continue,
    introduction: [element('p', { class: 'muted', part: 'hint' }, fill(words.code_sent_to, { to }))],
    fields: [{ name: 'code', kind: 'code', label: words.code }],
    async onSubmit({ code = '' }) {
      await pending.confirm(digitsOf(code));
      return undefined;
    },
  };
}

/** A button that copies a text. If the browser refuses, it selects the node, so that the user can copy it. */
function copyButton(label: string, copied: string, text: string, node: HTMLElement): HTMLElement {
  const button = linkButton(label, () =>
    (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
      () => {
        replaceContent(button, copied);
      },
      () => getSelection()?.selectAllChildren(node),
    ),
  );
  return button;
}

/** Saves a file that the page has made. */
function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  element('a', { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

type KeyTexts = Pick<DialogTexts, 'or_type' | 'open_app' | 'copy_key' | 'copied'>;

/** The key of an authenticator app for users who cannot scan it: in groups, to copy, and as a link for an app on this device. */
export function appKey(
  words: KeyTexts,
  { secret, uri }: { readonly secret: string; readonly uri: string },
): HTMLElement[] {
  const groups = secret.match(/.{1,4}/g) ?? [];
  const key = element('code', { class: 'secret', part: 'secret', dir: 'ltr' }, groups.join(' '));
  return [
    element('p', { class: 'small', part: 'hint' }, words.or_type),
    key,
    element(
      'div',
      { class: 'links' },
      copyButton(words.copy_key, words.copied, secret, key),
      element('a', { class: 'link small', part: 'link', href: uri }, words.open_app),
    ),
  ];
}

type CodesTexts = Pick<Context['words'], 'recovery_codes' | 'download'> &
  Pick<DialogTexts, 'recovery_codes_once' | 'codes_saved' | 'copy' | 'copied' | 'codes_file'>;

/** Shows the recovery codes of an account. */
export const showAccountCodes = ({ words }: Context, codes: readonly string[]): Step =>
  showCodes({ words: withDialogTexts(words) }, codes);

/** Shows recovery codes, which the service never shows again. */
export function showCodes({ words }: { readonly words: CodesTexts }, codes: readonly string[]): Step {
  const list = element(
    'ul',
    { class: 'codes', part: 'recovery-codes' },
    ...codes.map((code) => element('li', { part: 'recovery-code', dir: 'ltr' }, code)),
  );
  const file = () => {
    const text = [`${words.recovery_codes} – ${location.host}`, '', ...codes, ''].join('\n');
    saveFile(`${words.codes_file}.txt`, new Blob([text], { type: 'text/plain' }));
  };
  const links = [copyButton(words.copy, words.copied, codes.join('\n'), list), linkButton(words.download, file)];
  return {
    title: words.recovery_codes,
    submit: words.codes_saved,
    introduction: [
      element('p', { part: 'hint' }, words.recovery_codes_once),
      list,
      element('div', { class: 'links' }, ...links),
    ],
    onSubmit: async () => undefined,
  };
}

/** Saves everything that is stored about the user as a file. */
export async function saveExport({ client, words, signal }: Context): Promise<void> {
  const blob = await new Response(await client.export({ signal })).blob();
  saveFile(`${words.export_file}.json`, new Blob([blob], { type: 'application/json' }));
}
