import { defineSignIn } from '@postern/elements/sign-in';
import { createPageClient } from './client.js';
import { appName, button, element, showCard } from './dom.js';
import { ask, base } from './service.js';
import { fill, texts } from './texts.js';

/** The login of an app, as `/pages/flow` describes it. */
interface Flow {
  readonly next: 'sign_in' | 'ask' | 'go';
  readonly app: string;
  readonly login_hint: string | null;
  readonly user: string | null;
}
/** A page of the service that explains why the login cannot go on. */
interface Ended {
  readonly page: string;
}

/** A login at a provider leaves this page and comes back to it. Each tab has one login of an app. */
const flowKey = 'postern.page-flow';

const parameters = new URLSearchParams(location.search);
const isReturn = parameters.has('authentication_id');
const state = parameters.get('state') ?? (isReturn ? sessionStorage.getItem(flowKey) : null);

/** The service explains at the address of the login why it cannot go on. */
const reload = (of: string) => location.replace(`${base}/sign-in?${new URLSearchParams({ state: of })}`);

async function start(): Promise<void> {
  if (state === null) {
    sessionStorage.removeItem(flowKey);
    return signInHere();
  }
  sessionStorage.setItem(flowKey, state);
  const flow = await ask<Flow | Ended>('/pages/flow', { state });
  if ('page' in flow) return reload(state);
  if (flow.next === 'go' && !isReturn) return answer(state, flow);
  if (flow.next === 'ask' && !isReturn) return askUser(state, flow);
  return signInFor(state, flow);
}

/** Without an app, the login leads to the account. */
async function signInHere(): Promise<void> {
  const { postern, takePassword } = createPageClient();
  const leave = () => location.replace(`${base}/account`);
  await postern.ready();
  if (postern.current.status === 'signed_in' && !isReturn) return leave();
  const sign = show();
  sign.addEventListener('postern-signed-in', async () => {
    await offer(takePassword());
    leave();
  });
  defineSignIn({ postern });

  async function offer(password: string | undefined) {
    if (password !== undefined) await (await import('./passkey.js')).offerPasskey(postern, password);
  }
}

function signInFor(of: string, flow: Flow): void {
  // Whoever is signed in here has to sign in again. A user who comes back from a provider is doing so.
  const { postern, takePassword } = createPageClient({ ignoresCookie: true });
  const sign = show();
  const app = element('b', {}, appName(flow.app));
  sign.append(element('p', { slot: 'before', class: 'app' }, `${texts.to_app} `, app));
  if (flow.login_hint !== null) sign.setAttribute('identity', flow.login_hint);
  sign.addEventListener('postern-signed-in', async () => {
    const password = takePassword();
    if (password !== undefined) await (await import('./passkey.js')).offerPasskey(postern, password);
    // The user has signed in on a page that names the app.
    await answer(of, flow, 'allow');
  });
  defineSignIn({ postern });
}

/** The element of the page. It gets its client and its code when it is defined. */
function show(): HTMLElement {
  const sign = document.querySelector('postern-sign-in') ?? document.createElement('postern-sign-in');
  document.querySelector('main')?.replaceChildren(sign);
  return sign;
}

/** Asks a user who has not used this app yet. Apps whose address is not https ask each time. */
function askUser(of: string, flow: Flow): void {
  const heading = flow.user === null ? texts.continue_unnamed : fill(texts.continue_as, { name: flow.user });
  const question = flow.app.startsWith('https:') ? texts.asks : texts.asks_always;
  showCard(
    heading,
    element('p', { class: 'app' }, element('b', {}, appName(flow.app)), ` ${question}`),
    button(texts.continue, 'button primary', () => answer(of, flow, 'allow')),
    button(texts.other_account, 'button', async () => signInFor(of, flow)),
    button(texts.cancel, 'link center', () => answer(of, flow, 'refuse')),
  );
}

/** Answers the app, and goes there. Not by a form: its redirect would need the address of the app in the policy of this page. */
async function answer(of: string, flow: Flow, given?: 'allow' | 'refuse'): Promise<void> {
  const name = appName(flow.app);
  try {
    const result = await ask<{ readonly url: string } | Flow | Ended>('/pages/answer', { state: of, answer: given });
    if ('page' in result) return reload(of);
    if (!('url' in result)) return result.next === 'ask' ? askUser(of, result) : signInFor(of, result);
    sessionStorage.removeItem(flowKey);
    // A browser may ask for a press before it opens an app of the device.
    const link = element('a', { class: 'button', href: result.url }, fill(texts.open, { app: name }));
    showCard(fill(texts.leaving, { app: name }), link);
    location.replace(result.url);
  } catch {
    failed(() => answer(of, flow, given));
  }
}

function failed(again: () => Promise<void>): void {
  showCard(texts.failed, button(texts.try_again, 'button primary', again));
}

const startAgain = (): Promise<void> => start().catch(() => failed(startAgain));
void startAgain();
