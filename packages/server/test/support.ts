import type { TestApp } from '../../../test/support/app.js';
import { createNetwork, type Network, signedIn } from '../../client/test/support.js';
import { createPosternServer, type PosternServer, type PosternServerOptions } from '../src/index.js';

export { lost, problem } from '../../client/test/support.js';
export { type Network, signedIn };

export interface Backend {
  readonly server: PosternServer;
  readonly network: Network;
}

/** A backend of an app, with a network whose answers a test can replace. */
export function backendOf(app: TestApp, options: Partial<PosternServerOptions> = {}): Backend {
  const network = createNetwork();
  const { fetch } = network;
  // A machine with many tests may take longer to answer than the default.
  const server = createPosternServer({ url: app.url, apiKey: app.adminKey, fetch, timeout: 60_000, ...options });
  return { server, network };
}

/** A user who is logged in, with the token of a session. */
export async function visitor(app: TestApp) {
  const { user, postern } = await signedIn(app);
  const session = await postern.getSession();
  if (session === null) throw new Error('There is no session.');
  const token = session.token as `pss_${string}`;
  return { user, postern, token, headers: { authorization: `Bearer ${token}` } };
}
