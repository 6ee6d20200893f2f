import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, createApi } from '../app.js';
import { copyCluster } from '../cluster.js';
import { type Conformance, createConformance, type OpenApi } from '../conformance.js';
import { type ServiceProcess, startProcess } from '../process.js';
import { raceRounds } from '../rounds.js';
import { sendByFetch } from '../send.js';

/** The short form runs with all tests. The long form (`npm run test:faults`) waits as long as the docs promise. */
export const isLong = process.env.FAULTS === 'long';

/** How often a test kills a service or a database at the points of one kind of work. */
export const faultRounds = isLong ? 20 : raceRounds;

/** How often a test kills a service. */
export const killRounds = Number(process.env.FAULT_ROUNDS ?? (isLong ? 100 : 3));

/** Turns off the limits of a client address, because fault tests send too many requests from one address. */
const noLimits = { GUESS_LIMIT: '1000', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' };

/** A built service in its own process, and a client that checks its answers. */
export interface FaultyService extends ServiceProcess {
  readonly api: Api;
  readonly adminKey: string;
}

/** A folder and a configuration from which one service or several can start, as often as a test needs. */
export interface Installation {
  readonly folder: string;
  /** The folder of the embedded database, if there is one. */
  readonly dataDir: string;
  start(env?: Readonly<Record<string, string>>): Promise<FaultyService>;
  /** All services must have ended. */
  remove(): Promise<void>;
}

/** By the settings that change the document. */
const conformances = new Map<string, Promise<Conformance>>();

/**
 * The checks of the document of a service. To generate a document takes a service about as long as its start, so it is asked for
 * the document once, and not at each start.
 */
async function conformanceOf(url: string, { PUBLIC_URL = '', CONSOLE_PORT = '' }: Readonly<Record<string, string>>) {
  const key = `${PUBLIC_URL} ${CONSOLE_PORT}`;
  const read = async () => createConformance((await (await fetch(`${url}/openapi.json`)).json()) as OpenApi);
  const conforms = conformances.get(key) ?? read();
  conformances.set(key, conforms);
  return conforms.catch((error: unknown) => {
    conformances.delete(key);
    throw error;
  });
}

/**
 * @param env for every service that is started here; without DATABASE_URL they have an embedded database
 * @param isNew whether the first start has to create the embedded database
 */
export async function createInstallation(
  env: Readonly<Record<string, string>> = {},
  isNew = false,
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-faults-'));
  const cwd = join(folder, 'cwd');
  await mkdir(cwd);
  const dataDir = join(folder, 'data');
  if (!isNew && env.DATABASE_URL === undefined && env.DATA_DIR === undefined) await copyCluster(dataDir);
  const adminKey = `admin-${randomBytes(24).toString('hex')}`;
  const shared = {
    ...{ PORT: '0', DATA_DIR: dataDir, ADMIN_API_KEY: adminKey, LOG_LEVEL: 'warn' },
    ...(env.DATABASE_URL === undefined ? {} : { SECRET_KEY: randomBytes(32).toString('hex') }),
    ...noLimits,
    ...env,
  };
  return {
    folder,
    dataDir,
    async start(more = {}) {
      const service = await startProcess({ cwd, env: { ...shared, ...more } });
      return {
        ...service,
        api: createApi(service.url, await conformanceOf(service.url, { ...shared, ...more }), sendByFetch),
        adminKey,
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
