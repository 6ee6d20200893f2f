import { expect, onTestFinished, test } from 'vitest';
import { startShardedApp } from '../../../../support/app.js';
import { startHangingProxy } from '../../../../support/hanging-proxy.js';
import { createTestShards } from '../../../../support/shards.js';
import { createUser } from '../../../../support/users.js';

test('a bulk action changes the users of all servers but the one that is down, and reports that it is incomplete', async () => {
  const shards = await createTestShards(2);
  const east = shards.databases.get('east');
  if (east === undefined) throw new Error('there is no server east');
  const proxy = await startHangingProxy(east.target);
  const app = await startShardedApp(shards, { SHARDS: `east=${proxy.url}` });
  onTestFinished(async () => {
    proxy.stop();
    await app.close();
  });
  const users = new Map<string, string[]>([
    ['main', []],
    ['east', []],
  ]);
  while ([...users.values()].some((ids) => ids.length < 6)) {
    const { id } = await createUser(app);
    users.get(app.database.shardOf(id).name)?.push(id);
  }
  const [onMain = [], onEast = []] = users.values();
  proxy.stop();
  // Those of the server that is down are first.
  const body = { action: 'deactivate', ids: [...onEast, ...onMain] };
  const { text } = await app.api('POST', '/admin/v1/users/bulk', { bearer: app.adminKey, body });
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.slice(0, -1).map(({ id, result }) => [id, result])).toEqual(onMain.map((id) => [id, 'done']));
  expect(lines.at(-1)).toEqual({
    summary: { done: onMain.length, unchanged: 0, failed: 0, valid: 0, complete: false },
    status: 503,
    code: 'storage_unavailable',
  });
});
