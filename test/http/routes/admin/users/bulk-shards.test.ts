import { expect, test } from 'vitest';
import { startAppWithProxy } from '../../../../support/hanging-proxy.js';
import { createUser } from '../../../../support/users.js';

test('a bulk action changes the users of all servers but the one that is down, and reports that it is incomplete', async () => {
  const { app, proxy } = await startAppWithProxy();
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
