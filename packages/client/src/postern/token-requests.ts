import { isUnauthorized } from '../errors.js';
import type { DpopSigner } from '../login/dpop-signer.js';
import { once } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';
import { type Call, loadPart, type Transport } from '../transport.js';
import type { LoginToken } from './login-storage.js';

export type TokenRequests = ReturnType<typeof createTokenRequests>;

/** Creates what sends authentication tokens. A token that is bound to a key of this device is sent with a proof. */
export function createTokenRequests(base: string, transport: Transport, storage: PosternStorage) {
  let signer: DpopSigner | undefined;
  /** Only clients whose storage keeps keys load the signer. */
  const loadSigner = once(async () => {
    const { createDpopSigner } = await loadPart(() => import('../login/dpop-signer.js'));
    signer = createDpopSigner({ base, transport, storage });
    return signer;
  });

  async function send<T>(request: Call, login: LoginToken | undefined): Promise<T> {
    const call = { ...request, authorization: login && `Basic ${btoa(`${login.token}:`)}` };
    return login?.is_bound ? (await loadSigner()).send(call, login.token) : transport.json<T>(call);
  }

  return {
    send,
    /** Signs with a key of this device. Undefined if the storage cannot keep one. */
    signer: async () => (storage.addKey ? loadSigner() : undefined),
    /** The answer to a login may contain a nonce, which the first proof needs. */
    storeNonce: (headers: Headers) => signer?.storeNonce(headers),
    /**
     * Ends a token.
     * @param ended the token, as JSON
     * @returns whether Postern knows that it has ended. Never rejects.
     */
    async revoke(ended: string): Promise<boolean> {
      try {
        await send({ method: 'DELETE', path: '/v1/tokens' }, JSON.parse(ended));
      } catch (error) {
        // After a 401, there is nothing to revoke. Without its key, a bound token is useless already.
        if (!isUnauthorized(error)) return false;
      }
      return true;
    },
  };
}
