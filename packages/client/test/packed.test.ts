import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { othersIn, type PackedProject, packProject } from '../../../test/support/packed.js';

let project: PackedProject;
beforeAll(async () => {
  project = await packProject(['client']);
});
afterAll(() => project?.remove());

const use = `createPostern({ url: 'https://auth.example.com', storage: memoryStorage() })`;
const page = `import { createPostern, memoryStorage } from '@postern/client';\nconsole.log(${use}.current.status);`;

describe('the packed package works in an empty project', () => {
  test('as an ES module', async () => {
    await project.write('app.mjs', page);
    expect(await project.run('app.mjs')).toBe('starting');
  });

  test('in CommonJS through require', async () => {
    const code = `const { createPostern, memoryStorage } = require('@postern/client');\nconsole.log(${use}.current.status);`;
    await project.write('app.cjs', code);
    expect(await project.run('app.cjs')).toBe('starting');
  });

  const typed = `import { createAccount, createInbox, createPostern, memoryStorage, passwordProof } from '@postern/client';
const postern = ${use};
declare module '@postern/client' {
  interface Register {
    notificationType: 'order';
  }
}
createInbox(postern).list({ filter: { notification_type: 'order' } });
// @ts-expect-error this installation has no pools
createInbox(postern).list({ filter: { notification_type: 'pool' } });
await createAccount(postern).setPin('2468', { proof: passwordProof('x') });
// @ts-expect-error a proof cannot be written by hand
await createAccount(postern).setPin('2468', { proof: { type: 'password' } });
`;
  test.each([
    ['nodenext', 'backend'],
    ['bundler', 'page'],
  ] as const)('in TypeScript with the module resolution %s, and the types of a %s', async (resolution, platform) => {
    await project.write('app.ts', typed);
    expect(await project.compileErrors('app.ts', platform, resolution)).toBe('');
  });

  test.each(['Vite', 'esbuild'] as const)('in a page that %s builds', async (tool) => {
    await project.write('page.js', page);
    const { entry, files, warnings } = await project.bundle(tool, 'page.js', 'page');
    expect(warnings).toEqual([]);
    expect(files.length).toBeGreaterThan(1);
    expect(await project.run(entry)).toBe('starting');
  });
});

test('the packed package holds compiled code and types only, and no dependencies', async () => {
  const manifest = await readFile(join(project.folder, 'node_modules/@postern/client/package.json'), 'utf8');
  expect(JSON.parse(manifest)).not.toHaveProperty('dependencies');
  expect(othersIn(project.contents.client)).toEqual(['README.md', 'package.json']);
});
