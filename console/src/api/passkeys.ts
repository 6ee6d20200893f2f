/** Whether this browser can create and use passkeys with the JSON format of WebAuthn. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/**
 * Signs the options of a login or a proof. Asks the user.
 *
 * @returns the assertion as JSON text
 * @throws DOMException if the user declines, or has no passkey here
 */
export async function signChallenge(options: unknown): Promise<string> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  return JSON.stringify(toJson(await navigator.credentials.get({ publicKey })));
}

/**
 * Creates a passkey from the options of the service. Asks the user.
 *
 * @throws DOMException if the user declines, or this authenticator has one already
 */
export async function createPasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  return { ...toJson(await navigator.credentials.create({ publicKey })) };
}

function toJson(credential: Credential | null): PublicKeyCredentialJSON {
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new DOMException('There is no passkey.', 'NotAllowedError');
}
