import { createAccount, offeredLogins, type Postern, passwordProof } from '@postern/client';
import { button, element, showCard } from './dom.js';
import { texts } from './texts.js';

/** The browser where somebody has refused is not asked again. */
const refusedKey = 'postern.no-passkey';

/**
 * Offers a passkey after a login with the password. It asks nothing if this browser cannot keep one, if the user
 * has one, or if passkeys are no way to sign in here. It resolves when the page can go on, and never rejects.
 */
export async function offerPasskey(postern: Postern, password: string): Promise<void> {
  try {
    if (!(await isUseful(postern))) return;
  } catch {
    return;
  }
  const account = createAccount(postern);
  await new Promise<void>((resolve) => {
    const issue = element('p', { class: 'issue', role: 'alert' });
    showCard(
      texts.passkey,
      element('p', { class: 'muted' }, texts.passkey_lead),
      issue,
      button(texts.create_passkey, 'button primary', async () => {
        try {
          await account.addPasskey(location.host, { proof: passwordProof(password) });
          resolve();
        } catch {
          issue.textContent = texts.passkey_failed;
        }
      }),
      button(texts.not_now, 'button', async () => {
        localStorage.setItem(refusedKey, '1');
        resolve();
      }),
    );
  });
}

async function isUseful(postern: Postern): Promise<boolean> {
  if (localStorage.getItem(refusedKey) !== null) return false;
  if (!(await globalThis.PublicKeyCredential?.isUserVerifyingPlatformAuthenticatorAvailable?.())) return false;
  const [{ logins }, passkeys] = await Promise.all([offeredLogins(postern), createAccount(postern).listPasskeys()]);
  return passkeys.length === 0 && logins.some(({ authenticator }) => authenticator === 'passkey');
}
