// Publishes a notification with the text TEXT to users of several servers in one transaction, and kills its own process
// before it sends the statement that contains the text KILL_BEFORE, or has this name, for the KILL_AT-th time. It prints the process ids of
// its connections in PostgreSQL.
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

const { DIST, MAIN, SHARDS, USERS, TEXT, KILL_BEFORE, KILL_AT } = process.env;
const send = pg.Client.prototype.query;
let isArmed = false;
let count = 0;
const connections = new Set();
pg.Client.prototype.query = function (query, ...rest) {
  if (!connections.has(this.processID)) writeSync(1, `${this.processID}\n`);
  connections.add(this.processID);
  if (query.text?.includes('prepare transaction')) isArmed = true;
  const isNext = isArmed && (query.name === KILL_BEFORE || query.text?.includes(KILL_BEFORE));
  if (isNext) count += 1;
  if (isNext && count === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
  return send.call(this, query, ...rest);
};

const load = (path) => import(pathToFileURL(`${DIST}/${path}`).href);
const { openDatabase } = await load('database/sharding/open.js');
const { createPacer } = await load('lib/pacing.js');
const { createImageUrls } = await load('notifications/images/url.js');
const { createNotifications } = await load('notifications/notifications.js');
const { createCounters } = await load('statistics/counters.js');

const log = { info: () => undefined, warn: () => undefined };
const shards = SHARDS.split(';').map((entry) => ({ name: entry.split('=')[0], target: entry.replace(/^[^=]+=/, '') }));
const database = await openDatabase(
  { target: MAIN, shards, close: async () => undefined },
  { size: 2, onConnectionError: () => undefined, log, completesTransactions: false },
);
const notifications = createNotifications({
  ...{
    database,
    types: ['payment'],
    checkUrl: () => undefined,
    imageUrlsOf: createImageUrls(() => 'https://a.example'),
  },
  ...{ onChanged: () => undefined, onPublished: () => undefined, batching: true },
  ...{ counters: createCounters(), pacer: createPacer(), connections: 20 },
});
const inputs = USERS.split(',').map((userId) => ({ user_id: userId, notification_type: 'payment', description: TEXT }));
await database.spanning.transaction((tx) => notifications.publish(tx, inputs));
await database.close();
