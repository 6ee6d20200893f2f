import { execFile } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Python 3 that can make virtual environments: this machine's, or Debian's. */
export async function findPython() {
  const works = () => succeeds('python3', ['-c', 'import ensurepip']);
  if (!(await works())) await install('python3', 'python3-venv');
  return 'python3';
}

/** Since this version Go fetches by itself what go.mod needs. Debian 12 has an older one, which gets a toolchain as a module. */
const since = [1, 21];
const toolchain = 'v0.0.1-go1.26.0';

/**
 * @param cache where a toolchain may be put
 * @returns the path of `go`, and the environment that it needs
 */
export async function findGo(cache) {
  if (!(await succeeds('go', ['version']))) await install('golang-go', 'ca-certificates');
  const { stdout } = await run('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH']);
  const [version, system, processor] = stdout.trim().split('\n');
  const [major, minor] = version.replace('go', '').split('.').map(Number);
  if (major > since[0] || minor >= since[1]) return { path: 'go', env: { GOTOOLCHAIN: 'auto' } };
  const env = { ...process.env, GOMODCACHE: cache, GOFLAGS: '-modcacherw' };
  const name = `golang.org/toolchain@${toolchain}.${system}-${processor}`;
  await run('go', ['mod', 'download', name], { env, cwd: '/' });
  const root = join(cache, name);
  // Go modules store no file modes, so the programs must be made executable.
  const tools = `pkg/tool/${system}_${processor}`;
  for (const folder of ['bin', tools]) {
    for (const file of await readdir(join(root, folder))) await chmod(join(root, folder, file), 0o755);
  }
  return { path: join(root, 'bin/go'), env: { GOROOT: root, GOTOOLCHAIN: 'local' } };
}

async function install(...packages) {
  if (process.getuid() !== 0) throw new Error(`Only root can install ${packages.join(' and ')}.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-q'], { env });
  await run('apt-get', ['install', '-qy', '--no-install-recommends', ...packages], { env });
}

const succeeds = (program, args) =>
  run(program, args).then(
    () => true,
    () => false,
  );
