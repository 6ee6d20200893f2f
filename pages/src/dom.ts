type Child = Node | string | false | null | undefined;

/** An element with text and elements in it: text is never read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const result = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value);
  result.append(...children.filter((child) => child !== false && child !== null && child !== undefined));
  return result;
}

/** A button. While its work runs, it does nothing. */
export function button(text: string, className: string, act: () => Promise<unknown>): HTMLButtonElement {
  const result = element('button', { type: 'button', class: className }, text);
  result.addEventListener('click', async () => {
    if (result.getAttribute('aria-disabled') === 'true') return;
    result.setAttribute('aria-disabled', 'true');
    try {
      await act();
    } finally {
      result.removeAttribute('aria-disabled');
    }
  });
  return result;
}

/** Replaces the content of the page by a card, and moves the focus to its heading. */
export function showCard(heading: string, ...children: readonly Child[]): HTMLElement {
  const title = element('h2', { tabindex: '-1' }, heading);
  const card = element('div', { class: 'card' }, title, ...children);
  document.querySelector('main')?.replaceChildren(card);
  title.focus();
  return card;
}

/** The name of an app for people: the host of its address, or the scheme of an app on the device. */
export function appName(uri: string): string {
  const [, scheme = '', host = ''] = /^([^:]*):(?:\/\/(?:[^/?#]*@)?([^/?#]*))?/.exec(uri) ?? [];
  return /^https?$/.test(scheme) ? host : scheme;
}
