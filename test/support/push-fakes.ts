import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Fakes of push services on loopback. They speak the real protocols and refuse the same requests. */

/** How a fake responds to a valid push. `hang` never responds. */
export type Behaviour =
  | 'hang'
  | {
      readonly status: number;
      readonly headers?: object;
      readonly body?: object;
      /** The fake answers when this resolves; without it, at once. Only the APNs fake uses it. */
      readonly when?: Promise<void>;
    };

export interface Pushed<Content> {
  readonly headers: Readonly<Record<string, string>>;
  /** The token, or the path of the endpoint. */
  readonly to: string;
  readonly content: Content;
}

interface Fake<Content> {
  /** Configuration of a Postern that pushes to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly received: readonly Pushed<Content>[];
  /** Violations of the protocol. */
  readonly faults: readonly string[];
  /** Sets the response from now on, for all tokens or for one. */
  behave(behaviour: Behaviour, to?: string): void;
  close(): Promise<void>;
}

const accept: Behaviour = { status: 201 };

function behaviours(usual: Behaviour) {
  let current = usual;
  const special = new Map<string, Behaviour>();
  return {
    of: (to: string) => special.get(to) ?? current,
    behave(behaviour: Behaviour, to?: string) {
      if (to === undefined) current = behaviour;
      else special.set(to, behaviour);
    },
  };
}

async function listen(server: Server): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The claims of a JWT (RFC 7519), or undefined when its signature is not of this key. */
function verifyJwt(jwt: string, key: Parameters<typeof createPublicKey>[0], hash = 'sha256') {
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const isRight = verify(
    hash,
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey(key), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());
  return isRight ? { header: read(head), claims: read(claims) } : undefined;
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

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

/** A push service (RFC 8030) that checks VAPID (RFC 8292), with browsers that decrypt (RFC 8291, RFC 8188). */
export async function startWebPushService(): Promise<WebPushFake> {
  const received: Pushed<Record<string, unknown>>[] = [];
  const faults: string[] = [];
  const browsers = new Map<string, { ecdh: ReturnType<typeof createECDH>; auth: Buffer }>();
  const vapid = createECDH('prime256v1');
  vapid.generateKeys();
  const publicKey = vapid.getPublicKey('base64url');
  const how = behaviours(accept);
  let origin = '';

  const server = createHttpServer(async (request, response) => {
    const body = await readAll(request);
    const path = request.url ?? '';
    const browser = browsers.get(path);
    const fault =
      browser === undefined
        ? `nobody has subscribed at ${path}`
        : vapidFault(request.headers.authorization, publicKey, origin);
    if (browser === undefined || fault !== undefined) {
      faults.push(fault ?? '');
      response.writeHead(401).end();
      return;
    }
    try {
      const content = JSON.parse(decrypt(body, browser.ecdh, browser.auth));
      received.push({ headers: texts(request.headers), to: path, content });
    } catch (error) {
      faults.push(String(error));
    }
    answer(response, how.of(path));
  });
  const { port, close } = await listen(server);
  origin = `http://127.0.0.1:${port}`;

  return {
    env: {
      VAPID_PUBLIC_KEY: publicKey,
      VAPID_PRIVATE_KEY: vapid.getPrivateKey('base64url'),
      VAPID_SUBJECT: 'mailto:ops@example.com',
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    },
    publicKey,
    received,
    faults,
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

function vapidFault(authorization: string | undefined, publicKey: string, origin: string): string | undefined {
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

/** A message of FCM's HTTP v1 API. */
export interface FcmMessage {
  readonly token: string;
  readonly notification: { readonly title?: string; readonly body: string };
  readonly data: Readonly<Record<string, string>>;
  readonly android: Readonly<Record<string, unknown>>;
}

export interface FcmFake extends Fake<FcmMessage> {
  /** The number of issued access tokens. */
  readonly granted: () => number;
  /** Invalidates all issued access tokens. */
  revokeAccess(): void;
}

/** Google's token endpoint (RFC 7523) and FCM HTTP v1 behind it. */
export async function startFcm(): Promise<FcmFake> {
  const received: Pushed<FcmMessage>[] = [];
  const faults: string[] = [];
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const how = behaviours({ status: 200, body: { name: 'projects/test-project/messages/1' } });
  const access = new Set<string>();
  let granted = 0;
  let origin = '';

  function grant(body: string, response: ServerResponse): void {
    const form = new URLSearchParams(body);
    const token = verifyJwt(form.get('assertion') ?? '', publicKey.export({ format: 'pem', type: 'spki' }));
    const { iss, aud, scope, iat, exp } = token?.claims ?? {};
    const isRight =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      token?.header.alg === 'RS256' &&
      token.header.kid === 'key-1' &&
      iss === 'push@test-project.iam.gserviceaccount.com' &&
      aud === `${origin}/token` &&
      scope === 'https://www.googleapis.com/auth/firebase.messaging' &&
      Number(exp) - Number(iat) === 3600;
    if (!isRight) {
      faults.push(`the assertion is wrong: ${JSON.stringify(token)}`);
      answer(response, { status: 400, body: { error: 'invalid_grant' } });
      return;
    }
    granted += 1;
    const value = `access-${granted}-${randomBytes(8).toString('hex')}`;
    access.add(value);
    answer(response, { status: 200, body: { access_token: value, expires_in: 3599, token_type: 'Bearer' } });
  }

  const server = createHttpServer(async (request, response) => {
    const body = (await readAll(request)).toString();
    if (request.url === '/token') return grant(body, response);
    if (request.url !== '/v1/projects/test-project/messages:send') {
      faults.push(`called at ${request.url}`);
      response.writeHead(404).end('<html>');
      return;
    }
    if (!access.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      return answer(response, { status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } });
    }
    const { message } = JSON.parse(body) as { message: FcmMessage };
    if (Buffer.byteLength(body) > 4096) faults.push('the message is too large');
    received.push({ headers: texts(request.headers), to: message.token, content: message });
    answer(response, how.of(message.token));
  });
  const { port, close } = await listen(server);
  origin = `http://127.0.0.1:${port}`;

  return {
    env: {
      FCM_SERVICE_ACCOUNT: JSON.stringify({
        type: 'service_account',
        project_id: 'test-project',
        private_key_id: 'key-1',
        private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
        client_email: 'push@test-project.iam.gserviceaccount.com',
        token_uri: `${origin}/token`,
      }),
      FCM_URL: origin,
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    },
    received,
    faults,
    granted: () => granted,
    revokeAccess: () => access.clear(),
    behave: how.behave,
    close,
  };
}

/** The response of FCM for an unknown token. */
export const fcmUnregistered: Behaviour = {
  status: 404,
  body: {
    error: {
      code: 404,
      message: 'Requested entity was not found.',
      status: 'NOT_FOUND',
      details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'UNREGISTERED' }],
    },
  },
};

export interface ApnsPayload {
  readonly aps: { readonly alert: { readonly title?: string; readonly body: string } };
  readonly id: string;
}

export interface ApnsFake extends Fake<ApnsPayload> {
  /** The number of connections so far. */
  readonly connections: () => number;
  /** Sends GOAWAY, as Apple does for maintenance. */
  goAway(): void;
  /** Closes every connection. */
  breakOff(): void;
}

/** APNs: HTTP/2 (without TLS), a provider token, and the headers that Apple requires. */
export async function startApns(): Promise<ApnsFake> {
  const received: Pushed<ApnsPayload>[] = [];
  const faults: string[] = [];
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ format: 'pem', type: 'spki' });
  const how = behaviours({ status: 200 });
  let connections = 0;
  const sessions = new Set<import('node:http2').ServerHttp2Session>();

  const server = createHttp2Server();
  server.on('session', (session) => {
    connections += 1;
    sessions.add(session);
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => undefined);
    const body = await readAll(stream);
    const [, to = ''] = /^\/3\/device\/([0-9a-fA-F]+)$/.exec(String(headers[':path'])) ?? [];
    const fault = apnsFault(headers, pem, to, body);
    if (fault !== undefined) faults.push(fault);
    received.push({ headers: texts(headers), to, content: JSON.parse(body.toString()) });
    const behaviour = fault === undefined ? how.of(to) : { status: 403, body: { reason: 'InvalidProviderToken' } };
    if (behaviour === 'hang') return;
    await behaviour.when;
    if (stream.destroyed) return;
    stream.respond({ ':status': behaviour.status, ...behaviour.headers });
    stream.end(behaviour.body === undefined ? '' : JSON.stringify(behaviour.body));
  });
  const { port, close } = await listen(server);

  return {
    env: {
      APNS_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      APNS_KEY_ID: 'ABCDE12345',
      APNS_TEAM_ID: 'TEAM123456',
      APNS_TOPIC: 'com.example.app',
      APNS_URL: `http://127.0.0.1:${port}`,
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    },
    received,
    faults,
    connections: () => connections,
    goAway() {
      for (const session of sessions) session.goaway();
    },
    breakOff() {
      for (const session of sessions) session.destroy();
    },
    behave: how.behave,
    close,
  };
}

function apnsFault(headers: IncomingHttpHeaders, pem: string | Buffer, to: string, body: Buffer): string | undefined {
  const token = verifyJwt(String(headers.authorization).replace(/^bearer /, ''), pem);
  if (token === undefined) return 'the provider token is not signed by the key';
  const { alg, kid } = token.header;
  if (alg !== 'ES256' || kid !== 'ABCDE12345') return `the provider token is of ${alg} and ${kid}`;
  const { iss, iat } = token.claims;
  if (iss !== 'TEAM123456' || Math.abs(Number(iat) - nowSeconds()) > 3600) return `it is of ${iss} at ${iat}`;
  if (to === '') return `the path is ${headers[':path']}`;
  if (headers['apns-topic'] !== 'com.example.app') return 'the topic is wrong';
  if (headers['apns-push-type'] !== 'alert') return 'the push type is wrong';
  if (body.length > 4096) return 'the payload is too large';
  return undefined;
}

function answer(response: ServerResponse, behaviour: Behaviour): void {
  if (behaviour === 'hang') return;
  response.writeHead(behaviour.status, { ...behaviour.headers });
  response.end(behaviour.body === undefined ? '' : JSON.stringify(behaviour.body));
}

async function readAll(stream: IncomingMessage | ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function texts(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
