# For .ci/run and .ci/full: the checks. Each function can be a step.

# They need no test, and run beside each other.
static_checks() {
  begin 'Types' npx tsc --noEmit -p .
  begin 'Types of the elements' npx tsc --noEmit -p packages/elements/test
  begin 'Types of the pages' npx tsc --noEmit -p pages
  begin 'Format and lint' npx biome ci --colors=off .
  begin 'Import rules' node scripts/check-imports.mjs
  begin 'Unused code' npx knip
  begin 'The built console matches its sources' node console/build.mjs --check
  begin 'Environment is read in config only' one_reader_of_the_environment
  begin 'Generated files' node scripts/generate.mjs --check
  begin 'Known vulnerabilities' node scripts/ci/advisories.mjs
  finish
}

one_reader_of_the_environment() {
  ! grep -rnE "process\.env|process\[|from '(node:)?process'" src --include='*.ts' --exclude-dir=config
}

# tests_on_postgres <run> <command> <files...>: with Debian's PostgreSQL instead of the embedded one.
tests_on_postgres() {
  local code=0
  start_postgres || return 1
  tests "$@" || code=$?
  stop_postgres
  return "$code"
}

# The flows that most people use, in Chromium.
tests_in_browser() {
  needs chromium || return 1
  tests browser 'CI_FULL=1 npm test --' --maxWorkers=2 test/browser/{quickstart,passkeys,client,splitter,elements/{inbox,sign-in}}.test.ts \
    test/browser/console/{first-run,notifications,publishing,sign-in,users}.test.ts
}

# The documentation as a website: links, accessibility, phones, no request to another host.
documentation_site() {
  node site/run.mjs --build || return 1
  needs chromium && node site/check.mjs
}

# All of them, also in Firefox and WebKitGTK.
tests_in_all_browsers() {
  needs chromium firefox-esr webkit2gtk-driver xvfb || return 1
  tests browsers 'CI_FULL=1 npm test --' --maxWorkers=2 test/browser
}

# The configurations of docs/proxies.md and docs/access-tokens.md, and two instances that are updated under load.
tests_of_proxies() {
  needs caddy nginx-light libnginx-mod-http-js && find_envoy || return 1
  tests proxies 'CI_FULL=1 npm test --' test/proxies
}

# The metrics, the alert rules and the example configuration.
tests_of_prometheus() {
  needs prometheus || return 1
  tests prometheus 'CI_FULL=1 npm test --' test/deploy/prometheus
}

# A failover to a standby, PgBouncer, TLS, and backups with pg_dump, also hostile ones.
tests_of_failover() {
  needs pgbouncer postgresql || return 1
  tests failover 'CI_FULL=1 npm test --' test/faults/failover test/faults/pooler test/faults/tls test/backups/dumps/restore test/security/hostile-dump
}

# Data of the former major version of PostgreSQL, whose programs npm installs, and the former release beside this one, which
# the history of the repository has.
tests_of_upgrades() {
  tests upgrades 'CI_FULL=1 npm test --' test/embedded/major-upgrade/upgrade test/faults/rolling-upgrade
}

# What takes much time and protects little more than other tests.
tests_that_are_slow() {
  tests slow 'CI_FULL=1 npm test --' .full.test
}

# Images in a real S3 store.
tests_of_stores() {
  find_versitygw || return 1
  tests stores 'CI_FULL=1 npm test --' test/delivery/storage/s3-real
}

# The packed npm packages, the steps of the Dockerfile and the systemd unit, the examples in the packages, the tools of developers.
tests_of_packages() {
  needs systemd || return 1
  tests packages 'CI_FULL=1 npm test --' test/deploy/packages test/deploy/packed-packages \
    test/docs/package-examples test/scripts/check-imports test/scripts/hung-files
}

# The hooks in the oldest React that they support. The other tests use the newest one.
tests_of_react_18() {
  npm install --silent --no-audit --no-fund --prefix "$work/react-18" react@18.3.1 react-dom@18.3.1 || return 1
  tests react18 "REACT_18=$work/react-18 CI_FULL=1 npm test --" packages/react/test/server-rendering test/browser/react
}

# The dry run of a release packs what the other has built.
packages_can_be_released() {
  packages_are_publishable && node scripts/release.mjs --dry-run --built
}

# Whether tools and bundlers find the files and types of each package. Their versions are fixed, and they are no packages of the
# project, because nothing else needs them.
packages_are_publishable() {
  local package
  for package in packages/*/; do
    echo "$package"
    (cd "$package" && npm pack --silent --pack-destination "$work" >/dev/null) || return 1
    npx -y publint@0.3.25 --strict "$package" || return 1
  done
  for package in "$work"/*.tgz; do
    npx -y @arethetypeswrong/cli@0.18.5 --profile esm-only "$package" || return 1
  done
}
