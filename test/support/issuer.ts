import { type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { rsaKeys } from './rsa-keys.js';

/** A small OpenID provider that signs any claims, also those that a real one never signs. */
export interface Issuer {
  readonly url: string;
  /** The number of reads of each document of the provider. */
  readonly reads: { discovery: number; keys: number };
  /** Its published public keys. */
  readonly published: () => readonly PublicKey[];
  /** Replaces its response from now on. Undefined: the correct response. */
  behave(listener: RequestListener | undefined): void;
  /** Signs with a new key from now on, and publishes that one only. */
  rotate(): void;
  /** A valid id_token with these changes. Undefined removes a claim. */
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
  return { kid: randomUUID(), ...rsaKeys() };
}
