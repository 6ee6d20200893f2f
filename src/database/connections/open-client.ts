import pg from 'pg';
import type { Servers } from './servers.js';
import type { SessionSettings } from './session-check.js';
import { type DatabaseTarget, serversOf } from './target.js';

/** The options of a connection that is not in a pool. */
export interface ClientOptions extends pg.ClientConfig {
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  readonly settings?: SessionSettings;
  /** Called before the connection is opened, for listeners that must not miss an event. */
  readonly prepare?: (client: pg.Client) => void;
}

/** Opens a connection to the primary. An error of the connection ends it, and never the process. */
export async function openClient(target: DatabaseTarget, options: ClientOptions): Promise<pg.Client> {
  const { settings = {}, prepare, ...config } = options;
  const servers = serversOf(target);
  await servers.locate();
  const client = new pg.Client({ ...servers.fields(), ...config });
  client.on('error', () => undefined);
  prepare?.(client);
  try {
    await client.connect();
    await servers.admit(client, settings);
    return client;
  } catch (error) {
    servers.reportFailure();
    client.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Seconds after which a connection of a pool is replaced. So the pool follows a changed DNS name, and the server frees
 * the memory of old connections.
 */
const maxAge = 900;

/** The options of a pool that connects to the primary. */
export function poolConfig(servers: Servers, settings: SessionSettings): pg.PoolConfig {
  return {
    maxLifetimeSeconds: maxAge,
    Client: class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super({ ...config, ...servers.fields() });
      }
    },
    onConnect: (client) => servers.admit(client, settings),
  };
}
