import { isProblem, ProblemError } from '../errors.js';
import type { PosternStorage } from '../storage/storage.js';
import type { Call, Transport } from '../transport.js';
import type { PublicKey } from '../wire.js';

/** The key of this device, whose private part never leaves the browser. It signs a proof for each use of a bound token. */
export interface DpopSigner {
  /** The public key for a login; undefined if this platform cannot store keys. */
  publicKey(): Promise<PublicKey | undefined>;
  /** Stores the nonce of an answer for the next proof. */
  storeNonce(headers: Headers): void;
  /** Sends the authentication token with a proof. Throws as `Transport.json`, also if the key of the login is gone. */
  send<T>(call: Call, token: string): Promise<T>;
}

const keyName = 'postern.key';
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

interface KeyPair {
  readonly privateKey: unknown;
  readonly publicKey: unknown;
}

/** The part of WebCrypto that is used, so that the types need no DOM. */
interface Subtle {
  generateKey(algorithm: object, extractable: boolean, uses: string[]): Promise<object>;
  exportKey(format: 'jwk', key: unknown): Promise<PublicKey>;
  sign(algorithm: object, key: unknown, data: Uint8Array): Promise<ArrayBuffer>;
  digest(algorithm: string, data: Uint8Array): Promise<ArrayBuffer>;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const encode = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const encodeJson = (value: object) => encode(bytesOf(JSON.stringify(value)));

/** The answer of Postern to a request without a proof. No such request is sent: Postern would warn the user of a copied token. */
const keyLost = () =>
  new ProblemError(
    401,
    { type: 'urn:postern:problem:invalid_dpop_proof', title: 'The key of this login is gone. Log in again.' },
    null,
  );

/** Creates the proofs of a client (RFC 9449). */
export function createDpopSigner(options: {
  readonly base: string;
  readonly transport: Transport;
  readonly storage: PosternStorage;
}): DpopSigner {
  const { base, transport, storage } = options;
  // Pages without TLS have no `subtle`, and React Native has no `crypto`.
  const { subtle } = (globalThis.crypto ?? {}) as { readonly subtle?: Subtle };
  let nonce: string | undefined;

  function storeNonce(headers: Headers): void {
    const next = headers.get('dpop-nonce');
    if (next === null) return;
    nonce = next;
  }

  const jwkOf = async (pair: KeyPair): Promise<PublicKey> => {
    const { kty, crv, x, y } = await (subtle as Subtle).exportKey('jwk', pair.publicKey);
    return { kty, crv, x, ...(y !== undefined && { y }) };
  };

  async function sign(pair: KeyPair, { method, path }: Call, token: string): Promise<string> {
    const crypt = subtle as Subtle;
    const claims = {
      htm: method,
      htu: base + path,
      // A nonce begins with the time of Postern, so the clock of the device does not matter.
      iat: Number.parseInt(nonce ?? '0', 10),
      jti: encode(crypto.getRandomValues(new Uint8Array(18))),
      ath: encode(new Uint8Array(await crypt.digest('SHA-256', bytesOf(token)))),
      ...(nonce !== undefined && { nonce }),
    };
    const signingInput = `${encodeJson({ typ: 'dpop+jwt', alg: 'ES256', jwk: await jwkOf(pair) })}.${encodeJson(claims)}`;
    const signature = await crypt.sign(algorithm, pair.privateKey, bytesOf(signingInput));
    return `${signingInput}.${encode(new Uint8Array(signature))}`;
  }

  return {
    storeNonce,
    async publicKey() {
      if (subtle === undefined || storage.addKey === undefined || storage.getKey === undefined) return undefined;
      const storedPair = await storage.getKey(keyName);
      const pair = storedPair ?? (await storage.addKey(keyName, await subtle.generateKey(algorithm, false, ['sign'])));
      return jwkOf(pair as KeyPair);
    },
    async send(call, token) {
      const pair = await storage.getKey?.(keyName);
      if (pair == null || subtle === undefined) throw keyLost();
      const attempt = async () =>
        transport.json<never>({
          ...call,
          headers: { ...call.headers, DPoP: await sign(pair as KeyPair, call, token) },
          onHeaders: storeNonce,
        });
      try {
        return await attempt();
      } catch (error) {
        if (!isProblem(error, 'use_dpop_nonce')) throw error;
        return attempt();
      }
    },
  };
}
