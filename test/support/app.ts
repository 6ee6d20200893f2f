import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createLog } from '../../src/app/base/log.js';
import { type Postern, type StartOptions, startPostern } from '../../src/app/main.js';
import { type Config, readConfig } from '../../src/config/config.js';
import type { Database } from '../../src/database/database.js';
import type { App } from '../../src/http/requests/route.js';
import type { Services } from '../../src/http/routes/routes.js';
import { type Conformance, createConformance, type OpenApi } from './conformance.js';
import { createTestDatabase, type TestDatabase, withRole } from './database.js';
import { fastHashes } from './fast-hashes.js';
import { send } from './send.js';

export interface ApiOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A session token or an API key. */
  readonly bearer?: string;
  /** An authentication token. */
  readonly basic?: string;
}

export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly setCookies: readonly string[];
  /** The parsed JSON. The caller gives its type. The conformance check has compared it with the document. */
  readonly body: Body;
}

/** The members of a problem that tests look at. */
export interface ProblemAnswer {
  readonly type: string;
  readonly status: number;
  readonly errors: readonly { readonly field?: string; readonly code: string; readonly message: string }[];
}

export type Api = <Body = Record<string, unknown>>(
  method: string,
  path: string,
  options?: ApiOptions,
) => Promise<ApiAnswer<Body>>;

export interface TestApp {
  readonly url: string;
  /** The URL of the console and the admin API. */
  readonly administrationUrl: string;
  /** The URL of the metrics; undefined without METRICS_PORT. */
  readonly metricsUrl: string | undefined;
  readonly app: App;
  readonly services: Services;
  readonly database: Database;
  readonly config: Config;
  /** The DATABASE_URL of the owner of the tables, for commands on the same database. */
  readonly databaseEnv: { readonly DATABASE_URL: string };
  /** The value of ADMIN_API_KEY, a key that has every scope. */
  readonly adminKey: string;
  /** The output of the console SMS provider. */
  readonly printed: readonly string[];
  /** The lines of the log. */
  readonly logged: readonly string[];
  /** Sends a request over real HTTP, and checks the answer against the OpenAPI document. */
  readonly api: Api;
  /** Checks an answer against the OpenAPI document. */
  readonly conforms: Conformance;
  /** A second instance on the same database and with the same keys. */
  another(env?: Readonly<Record<string, string>>, options?: StartOptions): Promise<TestApp>;
  close(): Promise<void>;
}

/**
 * Starts a Postern on a free port of 127.0.0.1 with its own database. It runs with the role that `postern database
 * create-role` creates, which cannot change the schema. Close it in `afterAll`.
 */
export async function startTestApp(
  env: Readonly<Record<string, string>> = {},
  options: StartOptions = {},
): Promise<TestApp> {
  // The limits of the service do not apply to what a test itself does: it inserts many rows, or holds a lock.
  const { url, database, drop } = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  const ownEnv = {
    PORT: '0',
    SECRET_KEY: randomBytes(32).toString('hex'),
    ADMIN_API_KEY: `admin-${randomBytes(24).toString('hex')}`,
    LOG_LEVEL: 'info',
  };
  const role = inject('runningRole');
  const others: TestApp[] = [];
  const shared = {
    database,
    url,
    others,
    async drop() {
      // A test that failed has not closed them. They would try to reach the dropped database until the end of the run.
      await Promise.all(others.map((other) => other.close()));
      await drop();
    },
  };
  return startInstance({ ...ownEnv, DATABASE_URL: withRole(url, role), ...env }, shared, options);
}

/** What the instances on one database share. */
interface Shared extends Pick<TestDatabase, 'database' | 'drop' | 'url'> {
  /** All instances but the first one. */
  readonly others: TestApp[];
}

/**
 * Statistics are written only at the start and at the stop, and blocks by other processes are not read: tests that hold locks or count
 * statements expect no other statements. Images may wait for a busy machine. Hashes are fast, because real ones would take most of the
 * time of the tests. All workers of the queue connect at the start, which would be half of the connections, and each one polls. No
 * maintenance task begins in the middle of a file, however long a busy machine takes for it.
 */
const quick: StartOptions = {
  statisticsInterval: 3_600_000,
  blockInterval: 3_600_000,
  watchInterval: 3_600_000,
  imageTimeout: 120_000,
  hashThreads: fastHashes,
  queueConnections: 1,
  queueConcurrency: 4,
  maintenanceDelay: 3_600_000,
};

/** For tests in which a service removes expired rows. */
export const maintained: StartOptions = { maintenanceDelay: undefined };

/** For tests in which many jobs run or hang at a time. */
export const wholeQueue: StartOptions = { queueConcurrency: undefined };

/** For tests in which a provider hangs: it does so for longer than the test takes, also on a busy machine. */
export const patient: StartOptions = { ...wholeQueue, outboundTimeout: 150_000 };

async function startInstance(
  env: Readonly<Record<string, string>>,
  { database, drop, url: ownerUrl, others }: Shared,
  options: StartOptions,
): Promise<TestApp> {
  const config = readConfig(env);
  const printed: string[] = [];
  const logged: string[] = [];
  const log = createLog(config.LOG_LEVEL, { write: (line) => void logged.push(line) });
  const running: { postern?: Postern } = {
    postern: await startPostern(config, { ...quick, ...options, log, print: (line) => void printed.push(line) }),
  };
  const { app, services, url, administrationUrl, metrics } = running.postern as Postern;
  const conforms = conformanceOf(app, config);
  const instance: TestApp = {
    databaseEnv: { DATABASE_URL: ownerUrl },
    ...{ url, administrationUrl, metricsUrl: metrics?.url, app, services, database, config, printed, logged },
    adminKey: config.ADMIN_API_KEY?.reveal() ?? '',
    conforms,
    api: createApi(url, conforms),
    async another(more = {}, moreOptions = {}) {
      const other = await startInstance(
        { ...env, ...more },
        { database, drop: async () => undefined, url: ownerUrl, others },
        { ...options, ...moreOptions },
      );
      others.push(other);
      return other;
    },
    close() {
      closing ??= closeOnce();
      return closing;
    },
  };
  let closing: Promise<void> | undefined;
  async function closeOnce(): Promise<void> {
    await running.postern?.close();
    await drop();
    releaseLater(() => {
      delete running.postern;
      for (const part of ['app', 'services'] as const) Reflect.deleteProperty(instance, part);
    });
  }
  return instance;
}

/** What releases the memory of the services that were closed last. */
const closed: (() => void)[] = [];
/** A test may look at the parts of services that it has closed. */
const maxClosed = 8;

/**
 * Releases the memory of a closed service when others have been closed after it. The modules of test files live as long as the
 * process, and their variables would keep some megabytes for each service, which the collector would mark again and again.
 */
function releaseLater(release: () => void): void {
  closed.push(release);
  if (closed.length > maxClosed) closed.shift()?.();
}

/** By the settings that choose the routes of a service. Only requests depend on others, and the checks of answers do not read their schemas. */
const conformances = new Map<string, Conformance>();

/**
 * The checks of the document of a service. To generate a document and to compile its schemas takes longer than the rest of a
 * start, so services with the same routes share the checks.
 */
function conformanceOf(app: App, { CONSOLE, CONSOLE_PORT, PAGES, PUBLIC_URL, API_DOCS }: Config): Conformance {
  const choice = [CONSOLE, CONSOLE_PORT === undefined, PAGES, PUBLIC_URL === undefined, API_DOCS].join(' ');
  const conforms = conformances.get(choice) ?? createConformance(JSON.parse(JSON.stringify(app.swagger())) as OpenApi);
  conformances.set(choice, conforms);
  return conforms;
}

/**
 * A client that checks every answer.
 * @param sendRequest `sendByFetch` for tests in which the service or its connections fail, because it is what clients use then
 */
export function createApi(url: string, conforms: Conformance, sendRequest: typeof send = send): Api {
  return async <Body>(method: string, path: string, options: ApiOptions = {}) => {
    const { body, bearer, basic } = options;
    const headers: Record<string, string> = { ...options.headers };
    if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`;
    if (basic !== undefined) headers.authorization = `Basic ${Buffer.from(basic).toString('base64')}`;
    // A form sets its own content type, with the boundary.
    if (body !== undefined && !(body instanceof FormData)) headers['content-type'] ??= 'application/json';
    const isReady = typeof body === 'string' || body instanceof FormData;
    const sent = body === undefined ? {} : { body: isReady ? body : JSON.stringify(body) };
    const answer = await sendRequest(url + path, { method, headers, ...sent });
    const { text } = answer;
    conforms({ ...answer, method, path: path.split('?', 1)[0] ?? path });
    const isJson = /\bjson\b/.test(answer.headers['content-type'] ?? '') && text !== '';
    return { ...answer, body: (isJson ? JSON.parse(text) : undefined) as Body };
  };
}
