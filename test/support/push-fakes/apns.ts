import { generateKeyPairSync } from 'node:crypto';
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';

import { behaviours, type Fake, listen, nowSeconds, type Pushed, readAll, texts, verifyJwt } from './fake.js';

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
  const violations: string[] = [];
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
    const violation = apnsViolation(headers, pem, to, body);
    if (violation !== undefined) violations.push(violation);
    received.push({ headers: texts(headers), to, content: JSON.parse(body.toString()) });
    const behaviour = violation === undefined ? how.of(to) : { status: 403, body: { reason: 'InvalidProviderToken' } };
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
    violations,
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

function apnsViolation(
  headers: IncomingHttpHeaders,
  pem: string | Buffer,
  to: string,
  body: Buffer,
): string | undefined {
  const token = verifyJwt(String(headers.authorization).replace(/^bearer /, ''), pem);
  if (token === undefined) return 'the provider token is not signed by the key';
  const { alg, kid } = token.header;
  if (alg !== 'ES256' || kid !== 'ABCDE12345') return `the provider token is of ${alg} and ${kid}`;
  const { iss, iat } = token.claims;
  if (iss !== 'TEAM123456' || Math.abs(Number(iat) - nowSeconds()) > 3600) return `it is of ${iss} at ${iat}`;
  if (to === '') return `the path is ${headers[':path']}`;
  if (headers['apns-topic'] !== 'com.example.app') return 'the topic is wrong';
  const isSilent = JSON.parse(body.toString()).aps.alert === undefined;
  if (headers['apns-push-type'] !== (isSilent ? 'background' : 'alert')) return 'the push type is wrong';
  if (isSilent && headers['apns-priority'] !== '5') return 'Apple refuses background pushes of this priority';
  if (body.length > 4096) return 'the payload is too large';
  return undefined;
}
