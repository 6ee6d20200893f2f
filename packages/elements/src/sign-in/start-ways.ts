import { element, linkButton, replaceContent } from '../base/dom.js';
import { fill } from '../base/texts.js';
import { button, type Context, isProvider } from './views.js';

/**
 * The ways to sign in beside the form, as buttons: providers, the way that the page prefers and the one that this browser used last.
 * All others are behind "Other ways".
 *
 * @param way the way of the form, which has no button
 * @param choose is called with the way and its button
 */
export function wayButtons(
  context: Context,
  way: string | undefined,
  withProviders: boolean,
  choose: (name: string, chosen: HTMLElement) => void,
): { readonly nodes: readonly HTMLElement[]; readonly hasVisible: boolean } {
  const { words, ways, input, signal } = context;
  const { lastWay } = input;
  const providers = withProviders ? ways.filter(isProvider) : [];
  const others = ways.filter((name) => name !== way && !isProvider(name));
  const isShown = (name: string) => way === undefined || name === lastWay || name === ways[0];
  const shown = others.filter(isShown);
  const hidden = others.filter((name) => !isShown(name));

  function withTag(name: string, node: HTMLElement): HTMLElement {
    if (name === lastWay) node.append(element('span', { class: 'tag', part: 'tag' }, words.last_way));
    return node;
  }
  function wayButton(name: string): HTMLElement {
    const result = button(wayName(name, context), () => choose(name, result));
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
  if (shown.length > 0) nodes.push(element('div', { class: 'others' }, ...shown.map(wayButton)));
  if (hidden.length > 0) {
    const list = element('div', { class: 'others', id: 'others', hidden: true }, ...hidden.map(wayButton));
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

function wayName(way: string, { words }: Context): string {
  const [kind, ...nameParts] = way.split(':');
  const wayNames = {
    password: words.use_password,
    sms: words.use_sms,
    email: words.use_email,
    passkey: words.use_passkey,
  };
  return (
    wayNames[kind as keyof typeof wayNames] ?? fill(words.use_custom, { authenticator: nameParts.join(':') || way })
  );
}
