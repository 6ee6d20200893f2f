import { createLogin, isPosternError } from '@postern/client';
import type { Form } from '../base/form.js';
import { type Context, showLoginIssue } from './views.js';

/** Lets the user pick a passkey from the list that the browser shows at the first field. */
export async function offerPasskeys(
  context: Context,
  form: Pick<Form, 'showIssue'>,
  { signal }: AbortController,
): Promise<void> {
  const { postern, words } = context;
  const isAvailable = await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.();
  const login = createLogin(postern);
  login.onChange((state) => state.step === 'done' && context.finish(state, 'passkey'));
  // The question of the service expires after some minutes, and the page may be open for longer.
  let isAsking = isAvailable === true;
  while (isAsking && !signal.aborted) {
    const state = await login
      .start()
      .passkey({ conditional: true, signal })
      .catch((error: unknown) => {
        if (!isPosternError(error)) throw error;
        return null;
      });
    const issue = state?.step === 'start' ? state.issue : null;
    isAsking = issue?.kind === 'lapsed';
    if (signal.aborted || (issue?.kind !== 'wrong' && issue?.kind !== 'lapsed')) return;
    showLoginIssue(issue, form, context, words.wrong_passkey);
  }
}
