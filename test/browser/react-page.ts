// The components of the page of react.test.ts. The test renders them in Node.js, and Vite bundles them for the browser.
import { createElement as h, type ReactNode, StrictMode, Suspense, useEffect, useRef, useState } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import type { LoginOptions, Postern, Snapshot } from '../../packages/client/src/index.js';
import {
  PosternProvider,
  type ProofDialogProps,
  ProofProvider,
  useAccount,
  useActivity,
  useCountdown,
  useDevices,
  useInbox,
  useInboxCounts,
  useItems,
  useLogin,
  usePreferences,
  useSession,
  useTopics,
  useUnreadCount,
} from '../../packages/react/src/index.js';

/** How often a component was rendered. */
export const rendered = new Map<string, number>();
const counting = (name: string) => rendered.set(name, (rendered.get(name) ?? 0) + 1);

function Inbox({ suspense }: { readonly suspense: boolean }): ReactNode {
  const { status, items, connection, hasMore, loadMore, markAllRead } = useInbox({ limit: 5, suspense });
  const lines = items.map(({ id, description, isUnread }) =>
    h('li', { key: id }, `${isUnread ? '* ' : ''}${description}`),
  );
  return h(
    'section',
    { id: 'inbox' },
    h('p', null, `${status} ${connection}`),
    h('ul', null, ...lines),
    h('button', { type: 'button', onClick: markAllRead }, 'Mark all as read'),
    hasMore && h('button', { type: 'button', onClick: loadMore }, 'More'),
  );
}

function Items({ view }: { readonly view: 'inbox' | 'archived' }): ReactNode {
  const { status, items, archive, unarchive, markRead } = useItems({ view });
  const lines = items.map(({ id, description, isUnread }) =>
    h(
      'li',
      { key: id },
      `${isUnread ? '* ' : ''}${description}`,
      h('button', { type: 'button', onClick: () => markRead([id]) }, `Read ${description}`),
      h(
        'button',
        { type: 'button', onClick: () => (view === 'inbox' ? archive([id]) : unarchive([id])) },
        `${view === 'inbox' ? 'Archive' : 'Back'} ${description}`,
      ),
    ),
  );
  return h('section', { id: view }, h('p', null, status), h('ul', null, ...lines));
}
function Tabs(): ReactNode {
  return h('div', null, h(Items, { view: 'inbox' }), h(Items, { view: 'archived' }));
}
function Counts(): ReactNode {
  counting('counts');
  const { unseen, unread } = useInboxCounts();
  return h('b', { id: 'counts' }, `${unseen} of ${unread}`);
}

function Choices({ id }: { readonly id: string }): ReactNode {
  const { status, preferences, changeError, change } = usePreferences();
  const value = preferences?.categories.payment?.cells.push.value;
  const choose = (name: string) => () => change({ categories: { [name]: { push: value === 'on' ? 'off' : 'on' } } });
  return h(
    'p',
    { id },
    `${status} ${value} ${changeError?.kind ?? ''}`,
    h('button', { type: 'button', onClick: choose('payment') }, `Payments ${id}`),
    h('button', { type: 'button', onClick: choose('unknown') }, `Unknown ${id}`),
  );
}
function Preferences(): ReactNode {
  return h('div', null, h(Choices, { id: 'one' }), h(Choices, { id: 'other' }));
}

function Clubs(): ReactNode {
  const { data, error, hasMore, join, leave, loadMore } = useTopics({ limit: 2 });
  const topics = (data ?? []).map(({ key, title, is_subscribed: isIn }) =>
    h(
      'button',
      { type: 'button', key, onClick: () => (isIn ? leave(key) : join(key)) },
      `${isIn ? 'Leave' : 'Join'} ${title}`,
    ),
  );
  const more = hasMore && h('button', { type: 'button', key: 'more', onClick: loadMore }, 'More');
  return h('p', { id: 'clubs' }, error?.kind, ...topics, more);
}

function Badge(): ReactNode {
  counting('badge');
  const { count, capped } = useUnreadCount();
  return h('b', { id: 'badge' }, `${count}${capped ? '+' : ''}`);
}

function Who(): ReactNode {
  const session = useSession();
  const name = 'user_id' in session ? ` ${session.user_id}` : '';
  return h(
    'p',
    { id: 'who' },
    `${session.status}${name}`,
    h('button', { type: 'button', onClick: session.logOut }, 'Sign out'),
  );
}

function Devices({ suspense }: { readonly suspense: boolean }): ReactNode {
  const devices = useDevices({ suspense });
  if (devices.status !== 'ready') return h('p', { id: 'devices' }, devices.error?.kind ?? 'pending');
  const buttons = devices.data.map(({ id, make, current }) =>
    h(
      'button',
      { type: 'button', key: id, onClick: () => devices.remove(id) },
      `${make ?? 'a browser'}${current ? ' (this one)' : ''}`,
    ),
  );
  return h('p', { id: 'devices' }, ...buttons);
}

function Activity(): ReactNode {
  const { data, hasMore, loadMore } = useActivity({ limit: 2 });
  return h(
    'p',
    { id: 'activity' },
    `${data?.length ?? 0} `,
    hasMore && h('button', { type: 'button', onClick: loadMore }, 'Earlier'),
  );
}

/** Stores the text of a field, whose type is not known here: tests do not use the types of the browser. */
function keep({ target }: { readonly target: object }, text: { current: string }): void {
  if ('value' in target) text.current = String(target.value);
}

function Dialog({ request, answer, cancel }: ProofDialogProps): ReactNode {
  const text = useRef('');
  const choice = request.choices.find(({ type }) => type === 'password');
  const submit = () => choice?.type === 'password' && answer(choice.prove(text.current));
  const provider = request.choices.find(({ type }) => type === 'provider');
  const leave = async () => {
    const proof = provider?.type === 'provider' && (await provider.prove());
    if (proof) answer(proof);
  };
  return h(
    'dialog',
    { open: true },
    h('p', null, request.problem?.code),
    h('input', { name: 'proof', onChange: (event) => keep(event, text) }),
    h('button', { type: 'button', onClick: submit }, 'Prove'),
    provider && h('button', { type: 'button', onClick: leave }, 'Prove at the provider'),
    h('button', { type: 'button', onClick: cancel }, 'Refuse'),
  );
}

function Account(): ReactNode {
  const { status, data, client } = useAccount();
  const [result, setResult] = useState('');
  const [resumed, setResumed] = useState<Awaited<ReturnType<typeof client.resumeProof>>>(null);
  const change = async () => {
    try {
      await client.setUsername(`new-${data?.id}`, resumed ? { proof: resumed.proof } : {});
      setResult('changed');
    } catch (error) {
      setResult(error instanceof Error ? error.message : '');
    }
  };
  useEffect(() => {
    client.resumeProof().then(
      (found) => found?.operation === 'set_username' && setResumed(found),
      (error: unknown) => setResult(String(error)),
    );
  }, [client]);
  return h(
    'section',
    { id: 'account' },
    h('p', null, `${status} ${data?.username} ${result}`),
    h('button', { type: 'button', onClick: change }, resumed ? 'Go on with the name' : 'Change the name'),
  );
}

function SignIn(): ReactNode {
  const { state } = useLogin();
  const [name, secret] = [useRef(''), useRef('')];
  const seconds = useCountdown(state.step === 'locked' && !state.permanent ? state.until : null);
  const submit = () => state.step === 'start' && state.password({ identity: name.current, password: secret.current });
  return h(
    'section',
    { id: 'sign-in' },
    h('p', null, `${state.step} ${state.issue?.kind ?? ''} ${seconds}`),
    h('input', { name: 'name', onChange: (event) => keep(event, name) }),
    h('input', { name: 'password', onChange: (event) => keep(event, secret) }),
    h('button', { type: 'button', onClick: submit }, 'Sign in'),
  );
}

function Countdown(): ReactNode {
  const [until] = useState(() => new Date(Date.now() + 60_000));
  return h('p', { id: 'countdown' }, `${useCountdown(until)} s`);
}

/** A login at a provider by redirect. */
const providersOf = (options: LoginOptions) =>
  function Providers(): ReactNode {
    const { state, redirect } = useLogin(options);
    const issue = 'reason' in state ? state.reason : (state.issue?.kind ?? '');
    return h(
      'section',
      { id: 'providers' },
      h('p', null, `${state.step} ${issue}`),
      h('button', { type: 'button', onClick: () => redirect('oidc:google') }, 'Sign in with Google'),
    );
  };
const [Providers, ProvidersAndResume] = [providersOf({}), providersOf({ resume: true })];

const parts = {
  Inbox,
  Badge,
  Tabs,
  Counts,
  Preferences,
  Clubs,
  Who,
  Devices,
  Activity,
  Account,
  SignIn,
  Countdown,
  Providers,
  ProvidersAndResume,
};
export type Part = keyof typeof parts;

/** A page with these parts, in StrictMode. */
export function pageOf(
  postern: Postern,
  names: readonly Part[],
  { snapshot, suspense = false }: { readonly snapshot?: Snapshot | undefined; readonly suspense?: boolean } = {},
): ReactNode {
  const shown = names.map((name) => h(parts[name], { key: name, suspense }));
  const body = h(ProofProvider, { dialog: Dialog }, h('main', null, ...shown));
  // The boundary is above the provider: what React discards there must not be read again and again.
  const fallback = h('p', { id: 'fallback' }, 'One moment');
  return h(StrictMode, null, h(Suspense, { fallback }, h(PosternProvider, { postern, snapshot }, body)));
}

// Defined by the browser.
declare const document: {
  readonly body: { innerHTML: string };
  getElementById(id: string): (Element & { readonly innerText: string }) | null;
};

function openRoot(html = ''): Element {
  document.body.innerHTML = `<div id="root">${html}</div>`;
  const root = document.getElementById('root');
  if (root === null) throw new Error('There is no root.');
  return root;
}

/** Shows a page. @returns a function that removes it */
export function show(page: ReactNode): () => void {
  const root = createRoot(openRoot());
  root.render(page);
  return () => root.unmount();
}

/** Takes over the HTML of a server. */
export function hydrate(html: string, page: ReactNode, onRecoverableError: (error: unknown) => void): void {
  hydrateRoot(openRoot(html), page, { onRecoverableError });
}

export const textOf = (id: string): string | undefined => document.getElementById(id)?.innerText;

export { createLogin, createPostern, webStorage } from '../../packages/client/src/index.js';
