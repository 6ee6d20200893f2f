import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { othersIn, type PackedProject, packProject, resolutions } from '../../../test/support/packed.js';

let project: PackedProject;
beforeAll(async () => {
  project = await packProject(['client', 'react'], ['react', 'react-dom', '@types/react']);
});
afterAll(() => project?.remove());

const component = `import { createPostern, memoryStorage } from '@postern/client';
import { PosternProvider, useSession } from '@postern/react';

const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
const Who = () => <p>{useSession().status}</p>;
export const App = () => <PosternProvider postern={postern}><Who /></PosternProvider>;
`;

describe('the packed package works in an empty project', () => {
  test('in CommonJS through require, and as an ES module', async () => {
    const rest = `const node = createElement(PosternProvider, { postern }, createElement(() => useSession().status));
console.log(renderToString(node));`;
    const made = `const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });`;
    const from = {
      '@postern/client': '{ createPostern, memoryStorage }',
      '@postern/react': '{ PosternProvider, useSession }',
      react: '{ createElement }',
      'react-dom/server': '{ renderToString }',
    };
    const imports = Object.entries(from).map(([name, names]) => `import ${names} from '${name}';`);
    const requires = Object.entries(from).map(([name, names]) => `const ${names} = require('${name}');`);
    await project.write('app.js', [...imports, made, rest].join('\n'));
    await project.write('app.cjs', [...requires, made, rest].join('\n'));
    expect([await project.run('app.js'), await project.run('app.cjs')]).toEqual(['starting', 'starting']);
  });

  test.each(['Vite', 'esbuild'] as const)(
    'in a page and on a server that %s builds, without a warning',
    async (tool) => {
      await project.write('app.jsx', component);
      const page = `import { createRoot } from 'react-dom/client';\nimport { App } from './app.jsx';\ncreateRoot(document.body).render(<App />);`;
      await project.write('main.jsx', page);
      expect(await project.bundle(tool, 'main.jsx', 'page')).toMatchObject({ warnings: [] });

      const server = `import { renderToString } from 'react-dom/server.edge';\nimport { App } from './app.jsx';\nconsole.log(renderToString(<App />));`;
      await project.write('server.jsx', server);
      const { entry } = await project.bundle(tool, 'server.jsx', 'backend');
      expect(await project.run(entry)).toBe('<p>starting</p>');
    },
  );

  test('in server components, which import it as a module of the client', async () => {
    const code = `import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
const text = readFileSync(fileURLToPath(import.meta.resolve('@postern/react')), 'utf8');
console.log(/^["']use client["'];/.test(text));`;
    await project.write('server-component.js', code);
    expect(await project.run('server-component.js', '--conditions=react-server')).toBe('true');
    expect(await project.run('server-component.js')).toBe('false');
  });

  test.each(resolutions)('in TypeScript with the module resolution %s', async (resolution) => {
    await project.write('app.tsx', component);
    expect(await project.compileErrors('app.tsx', 'page', resolution)).toBe('');
  });
});

test('the packed package holds compiled code and types only', () => {
  expect(othersIn(project.contents.react)).toEqual(['README.md', 'package.json']);
});
