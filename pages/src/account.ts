import { defineAccount } from '@postern/elements/account';
import { createPageClient } from './client.js';
import { appName, button, element } from './dom.js';
import { base } from './service.js';
import { fill, texts } from './texts.js';

interface App {
  readonly id: string;
  readonly redirect_uri: string;
  readonly allowed_at: string;
}

const { postern } = createPageClient();
const signIn = () => location.replace(`${base}/sign-in`);
const { lang } = document.documentElement;
const dates = new Intl.DateTimeFormat(lang, { dateStyle: 'medium' });

async function start(): Promise<void> {
  await postern.ready();
  if (postern.current.status === 'signed_out') return signIn();
  const account = document.querySelector('postern-account');
  account?.addEventListener('postern-signed-out', signIn);
  defineAccount({ postern });
  // The apps are below the account, so they would move when it appears.
  await Promise.all([showApps(), account?.shadowRoot && isShown(account.shadowRoot)]);
  document.querySelector('main')?.append(section);
}

/** Resolves when the account shows its sections, or why it has none. */
function isShown(root: ShadowRoot): Promise<void> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(check);
    observer.observe(root, { childList: true, subtree: true });
    function check(): void {
      if (root.querySelector('section, [role=alert]') === null) return;
      observer.disconnect();
      resolve();
    }
    check();
  });
}

const section = element('section', { class: 'apps', 'aria-labelledby': 'apps' });

/** The apps that sign the user in without a question. Without one, there is no such section. */
async function showApps(): Promise<void> {
  const answer = await postern.fetch(`${base}/v1/account/apps`);
  const apps = answer.ok ? ((await answer.json()) as readonly App[]) : [];
  section.hidden = apps.length === 0;
  const status = element('p', { class: 'muted', role: 'status' });
  section.replaceChildren(
    element('h2', { id: 'apps' }, texts.apps),
    element('p', { class: 'muted' }, texts.apps_lead),
    element('ul', {}, ...apps.map((app) => entryOf(app, status))),
    status,
  );
}

function entryOf({ id, redirect_uri: uri, allowed_at: since }: App, status: HTMLElement): HTMLElement {
  const name = appName(uri);
  const remove = button(texts.remove, 'link', async () => {
    const answer = await postern.fetch(`${base}/v1/account/apps/${id}`, { method: 'DELETE' });
    if (!answer.ok && answer.status !== 404) {
      status.textContent = texts.failed;
      return;
    }
    entry.remove();
    status.textContent = texts.removed;
  });
  remove.setAttribute('aria-label', `${texts.remove}: ${name}`);
  const date = fill(texts.since, { date: dates.format(new Date(since)) });
  const entry = element(
    'li',
    {},
    element('span', {}, element('b', {}, name), element('small', { class: 'muted' }, date)),
    remove,
  );
  return entry;
}

void start().catch(() => {
  const again = button(texts.try_again, 'link', async () => location.reload());
  document.querySelector('main')?.prepend(element('p', { class: 'issue', role: 'alert' }, `${texts.failed} `, again));
});
