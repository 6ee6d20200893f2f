import { element, linkButton, replaceContent } from '../base/dom.js';
import { fill } from '../base/texts.js';
import { button, type Context, isProvider } from './views.js';

/**
 * The authenticators beside the form, as buttons: providers, the authenticator that the page prefers and the one that this browser used
 * last. All others are behind "Other ways".
 *
 * @param authenticator that of the form, which has no button
 * @param choose is called with the authenticator and its button
 */
export function authenticatorButtons(
  context: Context,
  authenticator: string | undefined,
  withProviders: boolean,
  choose: (name: string, chosen: HTMLElement) => void,
): { readonly nodes: readonly HTMLElement[]; readonly hasVisible: boolean } {
  const { words, authenticators, input, signal } = context;
  const { lastAuthenticator } = input;
  const providers = withProviders ? authenticators.filter(isProvider) : [];
  const others = authenticators.filter((name) => name !== authenticator && !isProvider(name));
  const isShown = (name: string) =>
    authenticator === undefined || name === lastAuthenticator || name === authenticators[0];
  const shown = others.filter(isShown);
  const hidden = others.filter((name) => !isShown(name));

  function withTag(name: string, node: HTMLElement): HTMLElement {
    if (name === lastAuthenticator) node.append(element('span', { class: 'tag', part: 'tag' }, words.last_way));
    return node;
  }
  function authenticatorButton(name: string): HTMLElement {
    const result = button(authenticatorName(name, context), () => choose(name, result));
    return withTag(name, result);
  }
  async function showProviders(box: HTMLElement): Promise<void> {
    const { providerButton } = await import('./providers.js');
    if (signal.aborted) return;
    const isNarrow = providers.length > 3;
    const buttons = providers.map((name) =>
      withTag(
        name,
        providerButton(context, name, isNarrow, (pressed) => choose(name, pressed)),
      ),
    );
    replaceContent(box, ...buttons);
  }

  const nodes: HTMLElement[] = [];
  if (providers.length > 0) {
    const box = element('div', { class: providers.length > 3 ? 'others two' : 'others' });
    nodes.push(box);
    void showProviders(box);
  }
  if (shown.length > 0) nodes.push(element('div', { class: 'others' }, ...shown.map(authenticatorButton)));
  if (hidden.length > 0) {
    const list = element('div', { class: 'others', id: 'others', hidden: true }, ...hidden.map(authenticatorButton));
    const toggle = linkButton(words.other_ways, () => {
      list.hidden = !list.hidden;
      toggle.setAttribute('aria-expanded', `${!list.hidden}`);
    });
    toggle.setAttribute('aria-expanded', 'false');
    toggle.setAttribute('aria-controls', 'others');
    nodes.push(toggle, list);
  }
  return { nodes, hasVisible: providers.length + shown.length > 0 };
}

function authenticatorName(authenticator: string, { words }: Context): string {
  const [kind, ...nameParts] = authenticator.split(':');
  const names = {
    password: words.use_password,
    sms: words.use_sms,
    email: words.use_email,
    passkey: words.use_passkey,
  };
  return (
    names[kind as keyof typeof names] ?? fill(words.use_custom, { authenticator: nameParts.join(':') || authenticator })
  );
}
