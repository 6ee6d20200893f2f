import { createPosternServer, type LocalSession, type PosternServer } from '../../packages/server/src/index.js';
import type { TestApp } from './app.js';
import { eventually } from './eventually.js';
import { createUser, signIn } from './users.js';

/** PUBLIC_URL of a service whose access tokens a test checks, and the audience. */
export const tokenIssuer = 'https://auth.example.com';
const audience = 'https://api.example.com';

type Service = Pick<TestApp, 'api' | 'adminKey' | 'url'>;

export async function createTestAudience({ api, adminKey }: Service): Promise<void> {
  await api('POST', '/admin/v1/audiences', { bearer: adminKey, body: { uri: audience } });
}

/** A login with an access token. */
export interface TokenHolder {
  readonly userId: string;
  readonly accessToken: string;
  /** Ends the login. @returns the status of the answer */
  logOut(service?: Service): Promise<number>;
}

/** @throws while the service is unavailable */
export async function createTokenHolder(service: Service): Promise<TokenHolder> {
  const user = await createUser(service);
  const { token, session } = await signIn(service, user);
  const { status, body } = await service.api<{ access_token: string }>('POST', '/v1/access-tokens', {
    bearer: session.token,
    body: { audience },
  });
  if (status !== 201) throw new Error(`no access token was issued: ${status}`);
  return {
    userId: user.id,
    accessToken: body.access_token,
    logOut: async ({ api } = service) => (await api('DELETE', '/v1/tokens', { basic: token })).status,
  };
}

/** A login after an outage. */
export const nextTokenHolder = (service: Service): Promise<TokenHolder> =>
  eventually('a login', () => createTokenHolder(service).catch(() => undefined));

/** A service that checks access tokens by itself. */
export interface LocalChecks {
  /** The id of the user; null if the token is refused, and 'unavailable' if revocations may be missing. */
  check(holder: TokenHolder): Promise<string | null>;
  /** Waits for this result. */
  becomes(holder: TokenHolder, wanted: string | null): Promise<void>;
  close(): void;
}

export function startLocalChecks(service: Pick<Service, 'adminKey' | 'url'>): LocalChecks {
  const server: PosternServer = createPosternServer({
    ...{ url: service.url, apiKey: service.adminKey, audience, issuer: tokenIssuer },
  });
  const check = ({ accessToken }: TokenHolder) =>
    server.verify(accessToken, { local: true }).then(
      (session: LocalSession | null) => session?.user_id ?? null,
      () => 'unavailable',
    );
  return {
    check,
    async becomes(holder, wanted) {
      await eventually(`the result ${wanted}`, async () => ((await check(holder)) === wanted ? true : undefined));
    },
    close: () => server.close(),
  };
}
