import { createServers } from '../../src/database/connections/servers.js';
import type { Database, Shard } from '../../src/database/database.js';
import { openDatabase } from '../../src/database/sharding/open.js';
import { createTestDatabase, runInPostgresDatabase, type TestDatabase, type TestTarget } from './database.js';
import { onEveryServer } from './every-server.js';
import { environment, startPgDog } from './pgdog.js';

/** Databases of the run's server that a service uses as several servers. */
export interface TestShards {
  /** By their names, with `main` first. */
  readonly databases: ReadonlyMap<string, TestDatabase>;
  /** The environment of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** The routed database, after a service or `migrateAll` has registered the servers. Close it. */
  open(): Promise<Database>;
  /** Makes a server refuse connections, and ends those that are open. */
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  drop(): Promise<void>;
}

const names = ['main', 'east', 'west', 'north', 'south'];

/** The path of a PgDog, through which the services of tests connect to several servers. */
const pgdogProgram = process.env.TEST_PGDOG;

/** Fresh databases with the product's schema. Drop them in `afterAll`. @param count of servers, 2 to 5 */
export async function createTestShards(count: number): Promise<TestShards> {
  const databases = new Map<string, TestDatabase>();
  for (const name of names.slice(0, count)) databases.set(name, await createTestDatabase());
  const urls = new Map([...databases].map(([name, { url }]) => [name, url]));
  const [main, ...others] = [...urls].map(([name, url]) => ({ name, url }));
  if (main === undefined) throw new Error('a service needs a database');
  const pgdog = pgdogProgram === undefined ? undefined : await startPgDog(pgdogProgram, urls);
  return {
    databases,
    env: pgdog?.env ?? environment(urls),
    open: () =>
      openDatabase(
        {
          target: createServers(main.url),
          shards: others.map(({ name, url }) => ({ name, target: createServers(url) })),
          close: async () => undefined,
        },
        {
          size: 4,
          onConnectionError: () => undefined,
          log: { info: () => undefined, warn: () => undefined },
          completesTransactions: false,
        },
      ),
    async stop(name) {
      const database = targetOf(databases, name);
      await runInPostgresDatabase(database, `alter database ${database.database} allow_connections false`);
      await runInPostgresDatabase(
        database,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.database}'`,
      );
    },
    async start(name) {
      const database = targetOf(databases, name);
      await runInPostgresDatabase(database, `alter database ${database.database} allow_connections true`);
    },
    async drop() {
      await pgdog?.stop();
      await Promise.all([...databases.values()].map((database) => database.drop()));
    },
  };
}

/** What a service of a test stores its data in. */
export interface TestStorage {
  /** The environment of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** After the first start of a service. With several servers, its `everyone` is that of `onEveryServer`. */
  open(): Promise<Database>;
  drop(): Promise<void>;
}

/** How many servers the services of tests have: `TEST_SHARDS=3 npm test -- test/acceptance`. */
const serverCount = Number(process.env.TEST_SHARDS ?? 1);

/** A fresh database with the product's schema or, with TEST_SHARDS, several that the users are spread over. */
export async function createTestStorage(): Promise<TestStorage> {
  if (serverCount > 1) return createSpreadStorage(await createTestShards(serverCount));
  const { url, database, drop } = await createTestDatabase();
  return { env: { DATABASE_URL: url }, open: async () => database, drop };
}

/** The databases as the storage of a service. Dropping it drops them. */
export function createSpreadStorage(shards: TestShards): TestStorage {
  let database: Promise<Database> | undefined;
  return {
    env: shards.env,
    open() {
      database ??= shards.open().then(onEveryServer);
      return database;
    },
    async drop() {
      await (await database)?.close();
      await shards.drop();
    },
  };
}

/** A server with users. With several servers, it is not that of DATABASE_URL. */
export function serverWithUsers({ shards }: Pick<Database, 'shards'>): Shard {
  const last = shards.at(-1);
  if (last === undefined) throw new Error('there is no server');
  return last;
}

function targetOf(databases: ReadonlyMap<string, TestDatabase>, name: string): TestTarget {
  const found = databases.get(name);
  if (found === undefined) throw new Error(`there is no server ${name}`);
  return found.target;
}
