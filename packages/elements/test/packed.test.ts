import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { othersIn, type PackedProject, packProject, resolutions } from '../../../test/support/packed.js';

let project: PackedProject;
beforeAll(async () => {
  project = await packProject(['client', 'elements']);
});
afterAll(() => project?.remove());

const app = `import { createPostern, memoryStorage } from '@postern/client';
import { defineElements } from '@postern/elements';
import { defineAccount } from '@postern/elements/account';
import { defineInbox, PosternInbox } from '@postern/elements/inbox';
import { defineSignIn } from '@postern/elements/sign-in';
const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
defineInbox({ postern });
defineSignIn({ postern, oidc: async () => null });
defineAccount({ postern });
defineElements({ postern }, PosternInbox);
`;
const printing = `${app}console.log(typeof PosternInbox, typeof globalThis.customElements);`;

describe('the packed package works in an empty project', () => {
  test('in Node.js, where it does nothing', async () => {
    await project.write('app.js', printing);
    expect(await project.run('app.js')).toBe('function undefined');
  });

  test('in CommonJS through require', async () => {
    await project.write('app.cjs', `console.log(typeof require('@postern/elements/inbox').defineInbox);`);
    expect(await project.run('app.cjs')).toBe('function');
  });

  test.each(resolutions)('in TypeScript with the module resolution %s', async (resolution) => {
    const typed = `${app}
const inbox = document.querySelector('postern-inbox');
inbox?.on('postern-select', ({ detail }) => detail.description.length);
// @ts-expect-error no such event
inbox?.on('postern-chosen', () => undefined);
// @ts-expect-error the page must decide on a client
defineElements({});
if (inbox) inbox.markRead = 'select';
`;
    await project.write('app.ts', typed);
    expect(await project.compileErrors('app.ts', 'page', resolution)).toBe('');
  });

  test.each(['Vite', 'esbuild'] as const)(
    'in a page that %s builds, with Spanish in a part of its own',
    async (tool) => {
      await project.write('app.js', printing);
      const { entry, files, warnings } = await project.bundle(tool, 'app.js', 'page');
      expect(warnings).toEqual([]);
      expect(files.some((name) => /(^|\/)es-/.test(name))).toBe(true);
      expect(await project.run(entry)).toBe('function undefined');
    },
  );
});

test('the packed package holds compiled code and types only, and depends on the client alone', async () => {
  const path = join(project.folder, 'node_modules/@postern/elements/package.json');
  const { dependencies, version } = JSON.parse(await readFile(path, 'utf8'));
  expect(dependencies).toEqual({ '@postern/client': version });
  expect(othersIn(project.contents.elements)).toEqual(['README.md', 'package.json']);
});
