// Changes a row of the directory and a row of a user in one transaction, and kills its own process before it sends the
// statement that contains the text KILL_BEFORE or has this name. With PAUSE_BEFORE it stops there instead, until SIGCONT.
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

const { DIST, MAIN, EAST, USER_ID, IDENTITY, KILL_BEFORE, PAUSE_BEFORE } = process.env;
const send = pg.Client.prototype.query;
let isArmed = false;
pg.Client.prototype.query = function (query, ...rest) {
  const contains = (part) => part && (query.name === part || query.text?.includes(part));
  if (isArmed && contains(KILL_BEFORE)) process.kill(process.pid, 'SIGKILL');
  if (isArmed && contains(PAUSE_BEFORE)) {
    writeSync(1, 'paused\n');
    process.kill(process.pid, 'SIGSTOP');
  }
  if (query.name === 'writer_identity') isArmed = true;
  return send.call(this, query, ...rest);
};

const load = (path) => import(pathToFileURL(`${DIST}/${path}`).href);
const { openDatabase } = await load('database/sharding/open.js');
const { directoryStatement, userStatement, sql } = await load('database/sql.js');
const addIdentity = directoryStatement(
  'writer_identity',
  (p) => sql`insert into identities (digest, user_id, type, canonical)
             values (sha256(${p.canonical}::bytea), ${p.userId}, 'username', ${p.canonical}::text)`,
);
const changeUser = userStatement('writer_user', (p) => sql`update users set name = 'changed' where id = ${p.userId}`);

const database = await openDatabase(
  { target: MAIN, shards: [{ name: 'east', target: EAST }], close: async () => undefined },
  { size: 2, onConnectionError: () => undefined, log: { warn: () => undefined }, completesTransactions: false },
);
try {
  await database.spanningFor(USER_ID).transaction(async (tx) => {
    await tx.query(changeUser({ userId: USER_ID }));
    await tx.query(addIdentity({ userId: USER_ID, canonical: IDENTITY }));
  });
  process.stdout.write('committed\n');
} catch (error) {
  process.stdout.write(`failed ${error.code ?? error.message}\n`);
}
await database.close();
