import type { PendingAddress, PendingTotp } from '@postern/client';
import { digitsOf, element } from '../base/dom.js';
import { picture } from '../base/qr-picture.js';
import { fill } from '../base/texts.js';
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
      const { recovery_codes } = await pending.confirm(digitsOf(code));
      return showCodes(context, recovery_codes);
    },
  };
}

/** Asks for the code that was sent to a new address. */
export function confirmAddress({ words }: Context, pending: PendingAddress, to: string): Step {
  return {
    ...{ title: words.confirm_address, submit: words.continue },
    introduction: [element('p', { class: 'muted' }, fill(words.code_sent_to, { to }))],
    fields: [{ name: 'code', kind: 'code', label: words.code }],
    async onSubmit({ code = '' }) {
      await pending.confirm(digitsOf(code));
      return undefined;
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

/** Saves everything that is stored about the user as a file. */
export async function saveExport({ client, words, signal }: Context): Promise<void> {
  const blob = await new Response(await client.export({ signal })).blob();
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/json' }));
  element('a', { href: url, download: `${words.export_file}.json` }).click();
  URL.revokeObjectURL(url);
}
