import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEventStreams } from '../../../src/audit/stream/event-streams.js';
import { type Places, parsePlaces } from '../../../src/audit/stream/places.js';
import type { Database } from '../../../src/database/database.js';
import { createAdministration } from '../../support/administration.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createTestShards, type TestShards } from '../../support/shards.js';

let shards: TestShards;
let app: TestApp;
beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
});
afterAll(() => app.close());

const { admin } = createAdministration(() => app);

/** Creates users until each of these servers has one. @returns the ids of all of them */
async function usersOn(...names: string[]): Promise<string[]> {
  const created: string[] = [];
  const missing = new Set(names);
  while (missing.size > 0) {
    const { status, body } = await admin<{ id: string }>('POST', '/users', { username: newName() });
    // The server of the new user may be away.
    if (status !== 201) continue;
    created.push(body.id);
    missing.delete(app.database.shardOf(body.id).name);
  }
  return created;
}
let names = 0;
const newName = () => {
  names += 1;
  return `stream-user-${names}`;
};

/** What the client of a stream got. */
class Client extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
  get created(): string[] {
    return [...this.text.matchAll(/"user_id":"([^"]+)"[^\n]*"type":"user.created"/g)].map(([, id = '']) => id);
  }
  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id);
  }
  get resets(): number {
    return [...this.text.matchAll(/^event: reset$/gm)].length;
  }
}

function createStreams(database: Database) {
  const streams = createEventStreams({
    database,
    log: { warn: () => undefined },
    times: { checkIntervalMs: 20, heartbeatMs: 100 },
  });
  return {
    close: () => streams.close(),
    async open(after?: Places): Promise<Client> {
      const client = new Client();
      const request = { caller: `key:${Math.random()}`, filter: [], recheck: async () => undefined };
      await streams.open({ ...request, after, connect: () => client });
      return client;
    },
  };
}

const receives = (client: Client, users: readonly string[]) =>
  eventually('the events', async () => users.every((id) => client.created.includes(id)) || undefined);

test('a stream has the events of all servers, each once, and continues after any id', async () => {
  const streams = createStreams(app.database);
  const client = await streams.open();
  const users = await usersOn('main', 'east', 'west');
  await receives(client, users);
  expect(client.created.sort()).toEqual([...users].sort());
  for (const id of client.ids.slice(0, 12)) {
    const before = client.text.slice(0, client.text.indexOf('\n\n', client.text.indexOf(`id: ${id}\n`)));
    const known = Object.assign(new Client(), { text: before }).created;
    const resumed = await streams.open(parsePlaces(id));
    await receives(
      resumed,
      users.filter((user) => !known.includes(user)),
    );
    expect([...known, ...resumed.created].sort()).toEqual([...users].sort());
    expect(resumed.resets).toBe(0);
    resumed.destroy();
  }
  await streams.close();
});

test('while a server does not answer, a stream has the events of the others, and then all of them', async () => {
  const streams = createStreams(app.database);
  const client = await streams.open();
  await shards.stop('east');
  let late: Client;
  try {
    await receives(client, await usersOn('main', 'west'));
    late = await streams.open();
  } finally {
    await shards.start('east');
  }
  await receives(client, await usersOn('east'));
  expect(client.resets).toBe(0);
  // It opened while the server was away, so events may be missing.
  await eventually('a reset', async () => late.resets > 0 || undefined);
  const last = await usersOn('east', 'west');
  await receives(late, last);
  expect(late.resets).toBe(1);
  expect(client.created).toHaveLength(new Set(client.created).size);
  await streams.close();
});
