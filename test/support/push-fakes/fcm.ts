import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { rsaKeys } from '../rsa-keys.js';
import {
  answer,
  type Behaviour,
  behaviours,
  type Fake,
  listen,
  type Pushed,
  readAll,
  texts,
  verifyJwt,
} from './fake.js';

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
  const violations: string[] = [];
  const { privateKey, publicKey } = rsaKeys();
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
      violations.push(`the assertion is wrong: ${JSON.stringify(token)}`);
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
      violations.push(`called at ${request.url}`);
      response.writeHead(404).end('<html>');
      return;
    }
    if (!access.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      return answer(response, { status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } });
    }
    const { message } = JSON.parse(body) as { message: FcmMessage };
    if (Buffer.byteLength(body) > 4096) violations.push('the message is too large');
    received.push({ headers: texts(request.headers), to: message.token, content: message });
    const behaviour = how.of(message.token);
    if (behaviour !== 'hang') await behaviour.when;
    answer(response, behaviour);
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
    violations,
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
