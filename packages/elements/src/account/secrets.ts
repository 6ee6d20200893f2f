import type { PendingTotp } from '@postern/client';
import { element } from '../base/dom.js';
import { picture } from '../base/qr-picture.js';
import type { Step } from './questions.js';
import type { Context } from './sections.js';

/** Shows the key of an authenticator app, and asks for its first code. */
export function confirmApp(context: Context, pending: PendingTotp): Step {
  const { words } = context;
  return {
    ...{ title: words.authenticator_app, submit: words.continue },
    introduction: [
      element('p', {}, words.scan_qr),
      picture(pending.uri, words.qr),
      element(
        'p',
        { class: 'small' },
        `${words.or_type} `,
        element('code', { class: 'secret', dir: 'ltr' }, pending.secret),
      ),
    ],
    fields: [{ name: 'code', kind: 'code', label: words.authenticator_code }],
    async onSubmit({ code = '' }) {
      const { recovery_codes } = await pending.confirm(code.replace(/\s/g, ''));
      return showCodes(context, recovery_codes);
    },
  };
}

type CodesTexts = Pick<Context['words'], 'recovery_codes' | 'recovery_codes_once' | 'codes_saved' | 'copy' | 'copied'>;

/** Shows recovery codes, which the service never shows again. */
export function showCodes({ words }: { readonly words: CodesTexts }, codes: readonly string[]): Step {
  const list = element(
    'ul',
    { class: 'codes', part: 'recovery-codes' },
    ...codes.map((code) => element('li', { dir: 'ltr' }, code)),
  );
  const copy = element('button', { type: 'button', class: 'link small', part: 'link' }, words.copy);
  copy.addEventListener('click', () => {
    navigator.clipboard?.writeText(codes.join('\n')).then(
      () => {
        copy.textContent = words.copied;
      },
      () => getSelection()?.selectAllChildren(list),
    );
  });
  return {
    ...{ title: words.recovery_codes, submit: words.codes_saved },
    introduction: [element('p', {}, words.recovery_codes_once), list, element('div', { class: 'links' }, copy)],
    onSubmit: async () => undefined,
  };
}
