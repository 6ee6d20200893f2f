import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { othersIn, type PackedProject, packProject, resolutions } from '../../../test/support/packed.js';
import { BUILD_TIMEOUT, buildService } from '../../../test/support/process.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let project: PackedProject;
beforeAll(async () => {
  await buildService();
  project = await packProject(['client', 'server']);
}, BUILD_TIMEOUT);
afterAll(() => project?.remove());

/** A backend that asks a Postern which knows one session. */
const use = `const unauthorized = { status: 401, headers: { 'content-type': 'application/problem+json' } };
const fetch = async (_, { headers }) => {
  const isKnown = new Headers(headers).get('authorization') === 'Bearer pss_known';
  return isKnown
    ? Response.json({ user_id: 'ada' })
    : Response.json({ type: 'urn:postern:problem:invalid_token' }, unauthorized);
};
const server = createPosternServer({ url: 'https://auth.example.com', fetch });
const verified = [server.verify('pss_known'), server.verify('pss_other')];
Promise.all(verified).then(([known, other]) => console.log(known.user_id, other));
`;
const backend = `import { createPosternServer } from '@postern/server';\n${use}`;

describe('the packed package works in an empty project', () => {
  test('as an ES module', async () => {
    await project.write('app.mjs', backend);
    expect(await project.run('app.mjs')).toBe('ada null');
  });

  test('in CommonJS through require', async () => {
    await project.write('app.cjs', `const { createPosternServer } = require('@postern/server');\n${use}`);
    expect(await project.run('app.cjs')).toBe('ada null');
  });

  test('with a throwaway Postern of the tests of an app', async () => {
    const code = `import { createInbox } from '@postern/client';
import { startPostern } from '@postern/server/testing';
const postern = await startPostern({ installation: ${JSON.stringify(root)} });
const ada = await postern.createUser();
const { publish } = postern.server;
await publish({ user_id: ada.id, notification_type: 'payment', description: 'You got 12.50' }, { idempotencyKey: 'payment-1' });
const { data } = await createInbox(await postern.signIn(ada)).list().page();
console.log(data.map(({ description }) => description).join());
await postern.stop();
`;
    await project.write('app.test.mjs', code);
    expect(await project.run('app.test.mjs')).toBe('You got 12.50');
  });

  const typed = `import { createServer } from 'node:http';
import { createPosternServer } from '@postern/server';
import { startPostern } from '@postern/server/testing';
const server = createPosternServer({ url: 'https://auth.example.com', apiKey: 'psk_x' });
createServer(async (request, response) => {
  const session = await server.verify(request);
  // @ts-expect-error there may be no session
  session.user_id;
  response.end(session?.user_id);
});
const news = { user_id: '1', notification_type: 'payment', description: 'x' };
await server.publish(news, { idempotencyKey: 'payment-1' });
// @ts-expect-error a repeat without a key could publish twice
await server.publish(news);
await using postern = await startPostern();
await postern.advance(1000);
`;
  test.each(resolutions)('in TypeScript with the module resolution %s', async (resolution) => {
    await project.write('app.ts', typed);
    expect(await project.compileErrors('app.ts', 'backend', resolution)).toBe('');
  });

  test.each(['Vite', 'esbuild'] as const)('in a backend and in a worker that %s builds', async (tool) => {
    await project.write('backend.js', backend);
    for (const platform of ['backend', 'page'] as const) {
      const { entry, warnings } = await project.bundle(tool, 'backend.js', platform);
      expect(warnings).toEqual([]);
      expect(await project.run(entry)).toBe('ada null');
    }
  });
});

test('the packed package holds compiled code and types only, and depends on the client alone', async () => {
  const path = join(project.folder, 'node_modules/@postern/server/package.json');
  const { dependencies, version } = JSON.parse(await readFile(path, 'utf8'));
  expect(dependencies).toEqual({ '@postern/client': version });
  expect(othersIn(project.contents.server)).toEqual(['README.md', 'package.json']);
});
