import { CancelledError, UnsupportedError } from '../errors.js';
import { platform } from '../platform.js';
import type { PasskeyAdapter } from '../types.js';

interface WebAuthn {
  readonly parseRequestOptionsFromJSON?: (options: object) => object;
  readonly parseCreationOptionsFromJSON?: (options: object) => object;
}

function webAuthn() {
  const { PublicKeyCredential } = globalThis as { readonly PublicKeyCredential?: WebAuthn };
  const credentials = platform().navigator?.credentials;
  const { parseRequestOptionsFromJSON: request, parseCreationOptionsFromJSON: creation } = PublicKeyCredential ?? {};
  if (request === undefined || creation === undefined || credentials === undefined)
    throw new UnsupportedError('passkeys');
  return { credentials, request: request.bind(PublicKeyCredential), creation: creation.bind(PublicKeyCredential) };
}

async function jsonOf(credentialPromise: Promise<unknown>): Promise<object> {
  try {
    const credential = (await credentialPromise) as { toJSON(): object } | null;
    if (credential === null) throw new CancelledError();
    return credential.toJSON();
  } catch (error) {
    const { name } = error as { readonly name?: string };
    throw name === 'NotAllowedError' || name === 'AbortError' ? new CancelledError({ cause: error }) : error;
  }
}

/** The passkeys of the browser. */
export const browserPasskeys: PasskeyAdapter = {
  async get(options, { signal, conditional }) {
    const { credentials, request } = webAuthn();
    const mediation = conditional ? { mediation: 'conditional' } : {};
    return jsonOf(credentials.get({ publicKey: request(options), signal, ...mediation }));
  },
  async create(options, { signal }) {
    const { credentials, creation } = webAuthn();
    return jsonOf(credentials.create({ publicKey: creation(options), signal }));
  },
};
