// better-auth on the same PostgreSQL, in a separate schema, with the same password hashing and the same number of
// connections. `node better-auth.mjs DATA_DIR USERS` fills it with that many users with a session each, and serves.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { hash, verify } from '@node-rs/argon2';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { openPostgres } from '../service.mjs';

const [dataDir, users] = process.argv.slice(2);
const secret = 'a secret that is only there to be long enough';
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const schema = 'better_auth';

const postgres = await openPostgres(dataDir);
const pool = postgres.pool({ max: 20, options: `-c search_path=${schema}` });
await pool.query(`create schema ${schema}`);

const options = {
  baseURL: 'http://127.0.0.1',
  trustedOrigins: ['http://127.0.0.1'],
  secret,
  database: pool,
  emailAndPassword: {
    enabled: true,
    password: {
      hash: (text) => hash(text, parameters),
      verify: (given) => verify(given.hash, given.password),
    },
  },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { level: 'error' },
};
const { runMigrations } = await getMigrations(options);
await runMigrations();
const auth = betterAuth(options);
const { internalAdapter } = await auth.$context;

await pool.query(
  `insert into "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
   select 'user' || n, 'User ' || n, 'user' || n || '@example.com', true, now(), now() from generate_series(1, $1::int) n`,
  [users],
);
await pool.query(
  `insert into account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
   select 'account' || n, 'user' || n, 'credential', 'user' || n, $2, now(), now() from generate_series(1, $1::int) n`,
  [users, await hash('a battery of horses', parameters)],
);
await pool.query(
  `insert into session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
   select 'session' || n, md5('session' || n), 'user' || n, now() + interval '7 days', now(), now()
   from generate_series(1, $1::int) n`,
  [users],
);
await pool.query('analyze');

/** The cookie of a user's session, signed as better-auth signs it. */
function cookie({ token }) {
  const signature = createHmac('sha256', secret).update(token).digest('base64');
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}

const handler = toNodeHandler(auth);
const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
  const json = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (pathname === '/cookies') {
    const { rows } = await pool.query(
      `select md5('session' || n) as token from generate_series(1, $1::int) n order by random() limit 2000`,
      [users],
    );
    json(200, rows.map(cookie));
  } else if (pathname === '/create-session') {
    // better-auth has no route that creates a session from a token. This is the work of its sign-in after the password
    // was right.
    json(201, await internalAdapter.createSession(searchParams.get('user')));
  } else {
    await handler(request, response);
  }
});
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port} `));
process.on('SIGTERM', async () => {
  server.closeAllConnections();
  server.close();
  await postgres.close();
  process.exit(0);
});
