import { createAccount, isPosternError, type LoginIssue } from '@postern/client';
import { coreOf, identityOf, issueOf } from '@postern/client/internal';
import { element, linkButton, replaceContent } from '../base/dom.js';
import { createForm } from '../base/form.js';
import { fill } from '../base/texts.js';
import { addressField } from './address-field.js';
import { codeView } from './code-view.js';
import { withLaterTexts } from './later-texts.js';
import { titleOf } from './providers.js';
import { type Context, card, type FirstAddress, type LaterContext, showLoginIssue, type View } from './views.js';

/** Stores the id of a user after the choice "Later": this browser does not ask this user again. It is no secret. */
const settledKey = 'postern.address';
/** How long a login is the proof for a first address, and how long a code to one address excludes another, in milliseconds. */
const loginMs = 600_000;
const resendMs = 60_000;

/** The login itself is the proof for the first address. If the service requires another proof, users add the address in their account. */
const accountOf = ({ postern }: Context) => createAccount(postern, { prove: async () => null });

/** Whether the account has no address, and the login can be the proof for one. */
async function isWanted(context: Context): Promise<boolean> {
  const { postern, offered, signal } = context;
  const { marks, held } = coreOf(postern);
  const isAsked = (await marks.get(settledKey)) !== held.login?.user_id;
  if (!isAsked || offered.recovery.identity_types.length === 0) return false;
  const { email, phone, proofs, created_at } = await accountOf(context).get({ signal });
  const usable = proofs.filter(({ accepted_for }) => accepted_for.includes('account'));
  if ((email ?? phone) !== null || usable.some(({ type }) => type !== 'provider')) return false;
  // Where a provider can prove that the user is present, only the login that made the account is enough.
  return usable.length === 0 || Date.parse(created_at) > Date.now() - loginMs;
}

/** Asks for a first address after a login at a provider, so that the account can be recovered. Null: there is nothing to ask. */
export async function addressView(shown: Context): Promise<View | null> {
  const words = withLaterTexts(shown.words);
  // This view never asks for a proof, so a request is cancelled only if one is required.
  const context: LaterContext = { ...shown, words: { ...words, cancelled: words.address_late } };
  const { flows, postern, signal, report, leaveAddress } = context;
  const leave = (isSettled = true) => {
    const { marks, held } = coreOf(postern);
    delete flows.address;
    if (isSettled && held.login !== undefined) void marks.set(settledKey, held.login.user_id);
    leaveAddress();
  };
  try {
    if (flows.address === undefined && !(await isWanted(context))) {
      if (!signal.aborted) leave();
      return null;
    }
  } catch (error) {
    if (signal.aborted) return null;
    report(error);
    leave(false);
    return null;
  }
  if (signal.aborted) return null;
  flows.address ??= { value: '' };
  const { address } = flows;
  const node = element('div');
  let view: Pick<View, 'node' | 'focus'>;
  const show = () => {
    const hadFocus = node.matches(':focus-within');
    view =
      address.sent === undefined ? formView(context, address, show, leave) : sentView(context, address, show, leave);
    replaceContent(node, view.node);
    if (hadFocus) view.focus();
  };
  show();
  return { node, focus: () => view.focus() };
}

/** Asks for the address. */
function formView(
  context: LaterContext,
  address: FirstAddress,
  show: () => void,
  leave: (isSettled?: boolean) => void,
): View {
  const { words, offered, input, signal } = context;
  const { identity_types: types } = offered.recovery;
  const invalid = types[0] === 'phone' ? words.not_phone : words.not_email;
  let isLate = false;
  const form = createForm({
    words,
    submit: words.continue,
    labelledBy: 'heading',
    fields: [addressField(words, types, address.value)],
    async onSubmit({ identity = '' }) {
      address.value = identity.trim();
      const { type } = identityOf(identity);
      const isAddress = type !== 'username' && types.includes(type);
      const issue = isAddress ? await send(context, address) : ({ kind: 'invalid' } as const);
      if (signal.aborted) return;
      isLate = issue?.kind === 'cancelled';
      if (issue === null) show();
      else if (issue.kind === 'invalid') form.showFieldErrors({ identity: invalid });
      // Not awaited, because it may count down.
      else void showLoginIssue(issue, form, context, invalid);
    },
  });
  const provider = titleOf(context, input.lastAuthenticator ?? '');
  const node = card(
    words.address_title,
    element('p', { class: 'lead muted', part: 'hint' }, fill(words.address_hint, { provider })),
    form.node,
    element(
      'div',
      { class: 'row' },
      linkButton(words.later, () => leave(!isLate)),
    ),
  );
  return { node, focus: form.focus };
}

/** Asks for the code that was sent. */
function sentView(context: LaterContext, address: FirstAddress, show: () => void, leave: () => void): View {
  const { words, signal } = context;
  let state = {
    busy: false,
    issue: null as LoginIssue | null,
    resendAt: address.sent?.resendAt ?? new Date(),
    submit: ({ code }: { readonly code: string }) =>
      run(async () => {
        const issue = await issueAfter(context, async () => address.sent?.pending.confirm(code, { signal }));
        if (issue === null) leave();
        return issue;
      }),
    resend: () => run(() => send(context, address)),
    cancel() {
      address.sent = undefined;
      show();
    },
  };
  const lead = fill(words.code_sent, { to: `\u2068${address.value}\u2069` });
  const view = codeView(context, state, { lead, submit: words.continue, back: words.back });
  async function run(work: () => Promise<LoginIssue | null>): Promise<void> {
    update({ busy: true, issue: null });
    const issue = await work();
    if (!signal.aborted) update({ busy: false, issue, resendAt: address.sent?.resendAt ?? state.resendAt });
  }
  function update(change: Partial<Pick<typeof state, 'busy' | 'issue' | 'resendAt'>>): void {
    state = { ...state, ...change };
    view.update(state);
  }
  return { node: view.node, focus: view.focus };
}

/** Sends a code to the address. */
function send(context: LaterContext, address: FirstAddress): Promise<LoginIssue | null> {
  const { type, value } = identityOf(address.value);
  const account = accountOf(context);
  const { signal } = context;
  return issueAfter(context, async () => {
    const pending = await (type === 'email'
      ? account.setEmail(value, { signal })
      : account.setPhone(value, { signal }));
    address.sent = { pending, resendAt: new Date(Date.now() + resendMs) };
  });
}

/** What the user can do about the error of a request. */
async function issueAfter(
  { signal, report }: Context,
  sendRequest: () => Promise<unknown>,
): Promise<LoginIssue | null> {
  try {
    await sendRequest();
    return null;
  } catch (error) {
    if (signal.aborted) return null;
    if (!isPosternError(error) || error.kind === 'usage') throw error;
    const issue = issueOf(error);
    if (issue.kind === 'failed') report(error);
    return issue;
  }
}
