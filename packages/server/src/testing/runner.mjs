// Runs a Postern with a database of its own, as a child of the test process. When the test process ends, for any reason, the
// channel closes. Then this process stops the service and the database and removes their folder.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [installation, folder] = process.argv.slice(2);
const { Client } = createRequire(join(installation, 'package.json'))('pg');

let stopping;
const closers = [];
function stop() {
  stopping ??= (async () => {
    for (const close of closers.reverse()) await close().catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    process.exit(0);
  })();
  return stopping;
}
// A signal to the whole group, such as Ctrl+C, also reaches the test process, which then closes the channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('disconnect', stop);

async function start(env) {
  const tools = pathToFileURL(join(installation, 'dist/tools.js')).href;
  const { createLog, readConfig, startEmbeddedPostgres, startPostern } = await import(tools);
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const embedded = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: quiet });
  closers.push(() => embedded.stop());
  const { host, port, user, database } = embedded.address;
  const adminKey = `admin-${randomBytes(24).toString('hex')}`;
  const config = readConfig({
    ...{ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', IMAGE_DIR: join(folder, 'images'), CONSOLE: 'off' },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000' },
    ...{ SECRET_KEY: randomBytes(32).toString('hex'), ADMIN_API_KEY: adminKey },
    ...env,
    DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
  });
  const log = createLog(config.LOG_LEVEL, { write: (line) => void process.stderr.write(line) });
  const postern = await startPostern(config, { log, print: () => undefined });
  closers.push(() => postern.close());
  const client = new Client(embedded.address);
  client.on('error', () => undefined);
  await client.connect();
  closers.push(() => client.end());
  process.on('message', async ({ id, offset }) => {
    if (!Number.isSafeInteger(offset)) return;
    await client.query(`create or replace function db_now() returns timestamptz language sql volatile
      as $$ select clock_timestamp() + ${offset} * interval '1 millisecond' $$`);
    process.send?.({ id });
  });
  return { url: postern.url, adminKey };
}

process.once('message', ({ env }) => {
  start(env).then(
    (ready) => process.send?.({ ready }),
    (error) => process.send?.({ failed: String(error?.message ?? error) }, () => stop()),
  );
});
