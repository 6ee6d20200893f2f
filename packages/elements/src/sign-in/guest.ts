import { isPosternError, mergeGuest, type Postern } from '@postern/client';
import { isGuest } from '@postern/client/internal';
import { element, linkButton } from '../base/dom.js';
import { withLaterTexts } from './later-texts.js';
import { button, type Context, card, focusHeading, type View } from './views.js';

export { mergeGuest };

/** The id of the guest who is signed in. Null for others. Without an answer, a guest is shown as other users are. */
export async function idOfGuest(postern: Postern, signal: AbortSignal): Promise<string | null> {
  const isForGuest = await isGuest(postern, { signal }).catch((error: unknown) => {
    if (!isPosternError(error) && !signal.aborted) throw error;
    return false;
  });
  const { current } = postern;
  return isForGuest && 'user_id' in current ? current.user_id : null;
}

/** The view of a guest who is signed in. @param onContinue shows the ways to sign in and to register */
export function guestView({ words: shown, postern }: Context, onContinue: () => void): View {
  const words = withLaterTexts(shown);
  const signIn = button(words.guest_continue, onContinue, 'button button-primary');
  signIn.classList.add('primary');
  const signOut = linkButton(words.sign_out, () => void postern.logOut());
  const node = card(
    words.guest_title,
    element('p', { class: 'lead muted', part: 'hint' }, words.guest_hint),
    signIn,
    element('div', { class: 'row' }, signOut),
  );
  return { node, focus: () => focusHeading(node) };
}
