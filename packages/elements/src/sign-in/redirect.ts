import type { LoginLink, LoginRedirect, LoginRefused } from '@postern/client';
import { digitsOf, element, linkButton, replaceContent } from '../base/dom.js';
import { createForm, type Form, showBusy } from '../base/form.js';
import { fill } from '../base/texts.js';
import { titleOf } from './providers.js';
import { button, card, focusHeading, issueBox, type LaterContext, showLoginIssue, type View } from './views.js';

const primaryButton = (text: string, onClick: () => unknown) => {
  const result = button(text, onClick, 'button button-primary');
  result.classList.add('primary');
  return result;
};

/** The page goes to a provider, or it has come back from there and the login ends. */
export function redirectView(context: LaterContext, first: LoginRedirect): View {
  const { words } = context;
  let state = first;
  const provider = titleOf(context, first.authenticator);
  const { node: alert, showIssue } = issueBox();
  const text = first.url === null ? words.returning : words.leaving;
  const lead = element('p', { class: 'lead muted turning', part: 'hint', role: 'status' }, fill(text, { provider }));
  const retryButton = primaryButton(words.try_again, () => state.busy || void state.retry?.());
  // The browser may be slow to leave, or have refused to.
  const attributes = { class: 'link small', part: 'link', href: first.url ?? undefined };
  const open = first.url !== null && element('a', attributes, fill(words.open_provider, { provider }));
  const back = linkButton(words.start_again, () => state.cancel());
  const node = card(words.sign_in, lead, alert, retryButton, element('div', { class: 'row' }, open, back));
  const update = (next: LoginRedirect) => {
    state = next;
    lead.hidden = next.issue !== null;
    retryButton.hidden = next.issue === null;
    void showLoginIssue(next.issue, { showIssue }, context, fill(words.provider_failed, { provider }));
  };
  update(first);
  return { node, update: (next) => next.step === 'redirect' && update(next), focus: () => focusHeading(node) };
}

/** A user has the mail address of the account at the provider: the person proves to be this user. */
export function linkView(context: LaterContext, first: LoginLink): View {
  const { words } = context;
  let state = first;
  const texts: Readonly<Record<string, string>> = {
    password: words.use_password,
    email: words.use_email,
    sms: words.use_sms,
    passkey: words.use_passkey,
  };
  const offered = first.authenticators.filter((name) => name in texts);
  let current = first.sent?.authenticator ?? offered[0];
  let shownSent = first.sent;
  let form: Form | undefined;
  let pressed: HTMLElement | undefined;
  const { node: alert, showIssue } = issueBox();
  const content = element('div', { class: 'others' });
  const node = linkCard(context, first, content, offered.includes('password'), () => state.cancel());

  function choose(next: string, chosen: HTMLElement): void {
    if (state.busy) return;
    pressed = chosen;
    if (next === 'passkey') void state.passkey?.();
    else if (next === 'password') {
      current = next;
      render();
      form?.focus();
    } else void state.send(next);
  }
  function choiceButton(name: string): HTMLElement {
    const result = button(texts[name], () => choose(name, result));
    return result;
  }
  /** The form for a password, or for the code of a message. */
  function secretForm(authenticator: string): Form {
    const isPassword = authenticator === 'password';
    return createForm({
      words,
      submit: words.link_submit,
      labelledBy: 'heading',
      fields: [
        isPassword
          ? { name: 'password', kind: 'password', label: words.password }
          : { name: 'code', kind: 'code', label: words.code, length: 6 },
      ],
      onSubmit: ({ password = '', code = '' }) =>
        state.submit({ authenticator, secret: isPassword ? password : digitsOf(code) }),
    });
  }
  function render(): void {
    const sentTo = state.sent?.authenticator === current ? state.sent : null;
    const shown = current !== undefined && (current === 'password' || sentTo !== null) ? current : undefined;
    form = shown === undefined ? undefined : secretForm(shown);
    const others = offered.filter((name) => name !== shown);
    const to = `\u2068${sentTo?.destination ?? ''}\u2069`;
    replaceContent(
      content,
      sentTo?.destination &&
        element('p', { class: 'muted', part: 'hint', role: 'status' }, fill(words.code_sent, { to })),
      form?.node ?? alert,
      sentTo !== null &&
        element(
          'div',
          { class: 'row' },
          linkButton(words.resend, () => state.busy || void state.send(sentTo.authenticator)),
        ),
      form && others.length > 0 && element('div', { class: 'or muted small', part: 'divider' }, words.or),
      ...others.map(choiceButton),
    );
  }
  const update = (next: LoginLink) => {
    state = next;
    if (next.sent !== shownSent && next.sent !== null) {
      shownSent = next.sent;
      const hadFocus = node.matches(':focus-within');
      current = next.sent.authenticator;
      render();
      if (hadFocus) form?.focus();
    }
    form?.setBusy(next.busy, pressed);
    if (form === undefined && pressed) showBusy(pressed, next.busy);
    if (!next.busy) pressed = undefined;
    const wrong = current === 'password' ? words.wrong : words.wrong_code;
    void showLoginIssue(next.issue, form ?? { showIssue }, context, wrong);
  };
  render();
  update(first);
  return {
    node,
    update: (next) => next.step === 'link' && update(next),
    focus: () => (form ? form.focus() : focusHeading(node)),
  };
}

function linkCard(
  context: LaterContext,
  { authenticator, recovery: isRecovery }: LoginLink,
  content: HTMLElement,
  hasPassword: boolean,
  cancel: () => void,
): HTMLElement {
  const { words, recovery, showFlow } = context;
  const forgot =
    hasPassword &&
    recovery &&
    linkButton(words.forgot_password, () => {
      cancel();
      showFlow('recover_password');
    });
  return card(
    words.link_title,
    element(
      'p',
      { class: 'lead muted', part: 'hint' },
      fill(words.link_lead, { provider: titleOf(context, authenticator) }),
    ),
    isRecovery && element('p', { class: 'notice', part: 'notice' }, words.link_unproven),
    content,
    element('div', { class: 'row' }, forgot, linkButton(words.start_again, cancel)),
  );
}

/** The login at the provider did not lead to a user: why, and what the person can do. */
export function refusedView(context: LaterContext, first: LoginRefused): View {
  const { words, registration, showFlow } = context;
  let state = first;
  const { authenticator, reason } = first;
  const provider = titleOf(context, authenticator);
  const { node: alert, showIssue } = issueBox();
  const texts = {
    not_linked: words.not_linked,
    no_cookies: words.no_cookies,
    provider_unavailable: words.provider_unavailable,
    failed: words.provider_failed,
  };
  const retry = { text: fill(words.retry_provider, { provider }), act: () => state.busy || void state.retry() };
  const restart = { text: words.other_way, act: () => state.restart() };
  // Without a linked account, the provider answers the same again.
  const [main, other] = reason === 'not_linked' ? [restart, retry] : [retry, restart];
  const mainButton = primaryButton(main.text, main.act);
  const register = () => {
    state.restart();
    showFlow('register');
  };
  const node = card(
    words.refused,
    element('p', { part: 'hint', role: 'status' }, fill(texts[reason], { provider })),
    alert,
    mainButton,
    button(other.text, other.act),
    reason === 'not_linked' &&
      registration &&
      element('p', { class: 'small new', part: 'hint' }, `${words.new_here} `, linkButton(words.register, register)),
  );
  const update = (next: LoginRefused) => {
    state = next;
    showBusy(mainButton, next.busy);
    void showLoginIssue(next.issue, { showIssue }, context, words.wrong);
  };
  update(first);
  return { node, update: (next) => next.step === 'refused' && update(next), focus: () => focusHeading(node) };
}
