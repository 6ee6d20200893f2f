import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PackageName, type PackedProject, packProject } from '../support/packed.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** An app with all packages of `packages/`, as npm publishes them. */
let project: PackedProject;
beforeAll(async () => {
  await buildService();
  project = await packProject(['client', 'elements', 'react', 'server'], ['react', 'react-dom', '@types/react']);
}, BUILD_TIMEOUT);
afterAll(() => project?.remove());

const made = `createPostern({ url: 'https://auth.example.com', storage: memoryStorage() })`;

describe('the client', () => {
  const page = `import { createPostern, memoryStorage } from '@postern/client';\nconsole.log(${made}.current.status);`;

  test('works as an ES module, and in CommonJS through require', async () => {
    await project.write('client.mjs', page);
    expect(await project.run('client.mjs')).toBe('starting');
    const code = `const { createPostern, memoryStorage } = require('@postern/client');\nconsole.log(${made}.current.status);`;
    await project.write('client.cjs', code);
    expect(await project.run('client.cjs')).toBe('starting');
  });

  test.each(['Vite', 'esbuild'] as const)('works in a page that %s builds', async (tool) => {
    await project.write('client.js', page);
    const { entry, files, warnings } = await project.bundle(tool, 'client.js', 'page');
    expect(warnings).toEqual([]);
    expect(files.length).toBeGreaterThan(1);
    expect(await project.run(entry)).toBe('starting');
  });
});

const elements = `import { createPostern, memoryStorage } from '@postern/client';
import { defineElements } from '@postern/elements';
import { defineAccount } from '@postern/elements/account';
import { defineInbox, PosternInbox } from '@postern/elements/inbox';
import { defineSignIn } from '@postern/elements/sign-in';
const postern = ${made};
defineInbox({ postern });
defineSignIn({ postern, oidc: async () => null });
defineAccount({ postern });
defineElements({ postern }, PosternInbox);
`;

describe('the elements', () => {
  const printing = `${elements}console.log(typeof PosternInbox, typeof globalThis.customElements);`;

  test('do nothing in Node.js, as ES modules and in CommonJS through require', async () => {
    await project.write('elements.js', printing);
    expect(await project.run('elements.js')).toBe('function undefined');
    await project.write('elements.cjs', `console.log(typeof require('@postern/elements/inbox').defineInbox);`);
    expect(await project.run('elements.cjs')).toBe('function');
  });

  test.each(['Vite', 'esbuild'] as const)(
    'work in a page that %s builds, with Spanish in a part of its own',
    async (tool) => {
      await project.write('elements.js', printing);
      const { entry, files, warnings } = await project.bundle(tool, 'elements.js', 'page');
      expect(warnings).toEqual([]);
      expect(files.some((name) => /(^|\/)es-/.test(name))).toBe(true);
      expect(await project.run(entry)).toBe('function undefined');
    },
  );
});

const component = `import { createPostern, memoryStorage } from '@postern/client';
import { PosternProvider, useSession } from '@postern/react';

const postern = ${made};
const Who = () => <p>{useSession().status}</p>;
export const App = () => <PosternProvider postern={postern}><Who /></PosternProvider>;
`;

describe('the hooks for React', () => {
  test('work in CommonJS through require, and as an ES module', async () => {
    const rest = `const node = createElement(PosternProvider, { postern }, createElement(() => useSession().status));
console.log(renderToString(node));`;
    const from = {
      '@postern/client': '{ createPostern, memoryStorage }',
      '@postern/react': '{ PosternProvider, useSession }',
      react: '{ createElement }',
      'react-dom/server': '{ renderToString }',
    };
    const imports = Object.entries(from).map(([name, names]) => `import ${names} from '${name}';`);
    const requires = Object.entries(from).map(([name, names]) => `const ${names} = require('${name}');`);
    const postern = `const postern = ${made};`;
    await project.write('react.js', [...imports, postern, rest].join('\n'));
    await project.write('react.cjs', [...requires, postern, rest].join('\n'));
    expect([await project.run('react.js'), await project.run('react.cjs')]).toEqual(['starting', 'starting']);
  });

  test.each(['Vite', 'esbuild'] as const)(
    'work in a page and on a server that %s builds, without a warning',
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

  test('are a module of the client in server components', async () => {
    const code = `import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
const text = readFileSync(fileURLToPath(import.meta.resolve('@postern/react')), 'utf8');
console.log(/^["']use client["'];/.test(text));`;
    await project.write('server-component.js', code);
    expect(await project.run('server-component.js', '--conditions=react-server')).toBe('true');
    expect(await project.run('server-component.js')).toBe('false');
  });
});

describe('the package for backends', () => {
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

  test('works as an ES module, and in CommonJS through require', async () => {
    await project.write('backend.mjs', backend);
    expect(await project.run('backend.mjs')).toBe('ada null');
    await project.write('backend.cjs', `const { createPosternServer } = require('@postern/server');\n${use}`);
    expect(await project.run('backend.cjs')).toBe('ada null');
  });

  test('works with a throwaway Postern of the tests of an app', async () => {
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

  test.each(['Vite', 'esbuild'] as const)('works in a backend and in a worker that %s builds', async (tool) => {
    await project.write('backend.js', backend);
    for (const platform of ['backend', 'page'] as const) {
      const { entry, warnings } = await project.bundle(tool, 'backend.js', platform);
      expect(warnings).toEqual([]);
      expect(await project.run(entry)).toBe('ada null');
    }
  });
});

/** Code that compiles with the types of the packages, by the name of its file. */
const typed = {
  'client.ts': `import { createAccount, createInbox, createPostern, memoryStorage, passwordProof } from '@postern/client';
const postern = ${made};
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
`,
  'elements.ts': `${elements}
const inbox = document.querySelector('postern-inbox');
inbox?.on('postern-select', ({ detail }) => detail.description.length);
// @ts-expect-error no such event
inbox?.on('postern-chosen', () => undefined);
// @ts-expect-error the page must decide on a client
defineElements({});
if (inbox) inbox.layout = 'list';
`,
  'react.tsx': component,
  'server.ts': `import { createServer } from 'node:http';
import { createPosternServer } from '@postern/server';
import { startPostern } from '@postern/server/testing';
const server = createPosternServer({ url: 'https://auth.example.com', apiKey: 'psk_x' });
createServer(async (request, response) => {
  const session = await server.verify(request);
  // @ts-expect-error there may be no session
  session.user_id;
  response.end(session?.user_id);
});
const news = { user_id: '1', notification_type: 'order', description: 'x' } as const;
await server.publish(news, { idempotencyKey: 'payment-1' });
// @ts-expect-error a repeat without a key could publish twice
await server.publish(news);
await using postern = await startPostern();
await postern.advance(1000);
`,
};

test.each([
  ['nodenext', 'page', ['elements.ts', 'react.tsx']],
  ['bundler', 'page', ['client.ts', 'elements.ts', 'react.tsx']],
  ['nodenext', 'backend', ['client.ts', 'server.ts']],
  ['bundler', 'backend', ['server.ts']],
] as const)('the packages have types for the module resolution %s in a %s', async (resolution, platform, files) => {
  for (const file of files) await project.write(file, typed[file]);
  expect(await project.compileErrors(files, platform, resolution)).toBe('');
});

test.each<[PackageName, readonly PackageName[]]>([
  ['client', []],
  ['elements', ['client']],
  ['react', ['client']],
  ['server', ['client']],
])('the packed %s holds compiled code and types only, and depends on these packages: %j', async (name, needed) => {
  const path = join(project.folder, `node_modules/@postern/${name}/package.json`);
  const { dependencies = {}, version, scripts } = JSON.parse(await readFile(path, 'utf8'));
  expect(dependencies).toEqual(Object.fromEntries(needed.map((other) => [`@postern/${other}`, version])));
  expect(scripts.prepack).toBe('npm run build');
  const others = project.contents[name]?.filter((file) => !/^dist\/.+\.(m?js(\.map)?|d\.m?ts)$/.test(file)).sort();
  expect(others).toEqual(['README.md', 'package.json']);
});
