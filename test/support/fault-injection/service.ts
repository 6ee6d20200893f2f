import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, createApi } from '../app.js';
import { createConformance, type OpenApi } from '../conformance.js';
import { type ServiceProcess, startProcess } from '../process.js';

/** The short form runs with all tests. The long form (`npm run test:faults`) waits as long as the docs promise. */
export const isLong = process.env.FAULTS === 'long';

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

/** @param env for every service that is started here; without DATABASE_URL they have an embedded database */
export async function createInstallation(env: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-faults-'));
  const cwd = join(folder, 'cwd');
  await mkdir(cwd);
  const dataDir = join(folder, 'data');
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
      const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
      return { ...service, api: createApi(service.url, createConformance(document)), adminKey };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
