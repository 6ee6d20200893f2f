import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

/** A tiny OpenID provider that signs whatever it is asked to, for what a real one would never do. */
export interface Issuer {
  readonly url: string;
  /** Of the provider's documents, how often each was read. */
  readonly reads: { discovery: number; keys: number };
  /** Its keys in public, as they are published. */
  readonly published: () => readonly PublicKey[];
  /** Answers in another way from now on; undefined: as it should. */
  behave(listener: RequestListener | undefined): void;
  /** Signs with a new key from now on, and publishes that one only. */
  rotate(): void;
  /** An id_token with what a right one has, and these changes; undefined removes. */
  sign(claims: Record<string, unknown>, header?: Partial<JWTHeaderParameters>, key?: KeyObject): Promise<string>;
  close(): Promise<void>;
}

export type PublicKey = Readonly<Record<string, unknown>> & { readonly kid: string };

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const clientId = 'the-app';

export async function startIssuer(): Promise<Issuer> {
  let key = newKey();
  let behaviour: RequestListener | undefined;
  const reads = { discovery: 0, keys: 0 };
  const published = () => [
    { ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, use: 'sig', alg: 'RS256' } as PublicKey,
  ];
  const server = createServer((request, response) => {
    if (request.url === '/keys') reads.keys += 1;
    else reads.discovery += 1;
    if (behaviour !== undefined) return behaviour(request, response);
    const document = request.url === '/keys' ? { keys: published() } : { issuer: url, jwks_uri: `${url}/keys` };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url, reads, published },
    behave(listener) {
      behaviour = listener;
    },
    rotate() {
      key = newKey();
    },
    sign(claims, header = {}, signing = key.privateKey) {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: url, aud: clientId, sub: 'a-subject', iat: now, exp: now + 300 };
      // Without the members that are undefined.
      const payload = JSON.parse(JSON.stringify({ ...usual, ...claims })) as JWTPayload;
      return new SignJWT(payload)
        .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
        .sign(signing, { crit: { strange: true } });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function newKey(): Key {
  return { kid: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
}
