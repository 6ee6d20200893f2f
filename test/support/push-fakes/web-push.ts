import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';

import {
  accept,
  answer,
  behaviours,
  type Fake,
  listen,
  nowSeconds,
  type Pushed,
  readAll,
  texts,
  verifyJwt,
} from './fake.js';

/** A browser with a subscription. */
export interface Browser {
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
  readonly path: string;
}

export interface WebPushFake extends Fake<Record<string, unknown>> {
  readonly publicKey: string;
  subscribe(): Browser;
}

/** A new pair of keys for VAPID, in base64url. Node.js leaves out zeros at the beginning of a private key, so it adds them. */
export function newVapidKeys(): { readonly publicKey: string; readonly privateKey: string } {
  const curve = createECDH('prime256v1');
  const publicKey = curve.generateKeys('base64url');
  const key = curve.getPrivateKey();
  return { publicKey, privateKey: Buffer.concat([Buffer.alloc(32 - key.length), key]).toString('base64url') };
}

/** A push service (RFC 8030) that checks VAPID (RFC 8292), with browsers that decrypt (RFC 8291, RFC 8188). */
export async function startWebPushService(): Promise<WebPushFake> {
  const received: Pushed<Record<string, unknown>>[] = [];
  const violations: string[] = [];
  const browsers = new Map<string, { ecdh: ReturnType<typeof createECDH>; auth: Buffer }>();
  const { publicKey, privateKey } = newVapidKeys();
  const how = behaviours(accept);
  let origin = '';

  const server = createHttpServer(async (request, response) => {
    const body = await readAll(request);
    const path = request.url ?? '';
    const browser = browsers.get(path);
    const violation =
      browser === undefined
        ? `nobody has subscribed at ${path}`
        : vapidViolation(request.headers.authorization, publicKey, origin);
    if (browser === undefined || violation !== undefined) {
      violations.push(violation ?? '');
      response.writeHead(401).end();
      return;
    }
    try {
      const content = JSON.parse(decrypt(body, browser.ecdh, browser.auth));
      received.push({ headers: texts(request.headers), to: path, content });
    } catch (error) {
      violations.push(String(error));
    }
    answer(response, how.of(path));
  });
  const { port, close } = await listen(server);
  origin = `http://127.0.0.1:${port}`;

  return {
    env: {
      VAPID_PUBLIC_KEY: publicKey,
      VAPID_PRIVATE_KEY: privateKey,
      VAPID_SUBJECT: 'mailto:ops@example.com',
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    },
    publicKey,
    received,
    violations,
    behave: how.behave,
    close,
    subscribe() {
      const ecdh = createECDH('prime256v1');
      const p256dh = ecdh.generateKeys('base64url');
      const auth = randomBytes(16);
      const path = `/push/${randomBytes(16).toString('base64url')}`;
      browsers.set(path, { ecdh, auth });
      return { subscription: { endpoint: origin + path, keys: { p256dh, auth: auth.toString('base64url') } }, path };
    },
  };
}

function vapidViolation(authorization: string | undefined, publicKey: string, origin: string): string | undefined {
  const [, jwt = '', key] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization ?? '') ?? [];
  if (key !== publicKey) return 'the key is not that of the subscription';
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const token = verifyJwt(jwt, { key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, format: 'jwk' });
  if (token === undefined) return 'the signature is wrong';
  const { aud, exp, sub } = token.claims;
  if (token.header.alg !== 'ES256') return 'the algorithm is not ES256';
  if (aud !== origin) return `aud is ${aud}`;
  if (typeof exp !== 'number' || exp < nowSeconds() || exp > nowSeconds() + 86_400) return `exp is ${exp}`;
  return sub === 'mailto:ops@example.com' ? undefined : `sub is ${sub}`;
}

/** aes128gcm of one record (RFC 8188) under the keys of RFC 8291, section 3.4. */
function decrypt(body: Buffer, receiver: ReturnType<typeof createECDH>, auth: Buffer): string {
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const senderKey = body.subarray(21, 21 + body.readUInt8(20));
  const record = body.subarray(21 + senderKey.length);
  if (body.length > 4096 || record.length > recordSize) throw new Error(`the body has ${body.length} bytes`);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver.getPublicKey(), senderKey]);
  const secret = Buffer.from(hkdfSync('sha256', receiver.computeSecret(senderKey), auth, info, 32));
  const derived = (label: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, Buffer.from(`Content-Encoding: ${label}\0`), length));
  const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12));
  decipher.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.lastIndexOf(2);
  if (padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error('the padding is wrong');
  return padded.subarray(0, end).toString();
}
