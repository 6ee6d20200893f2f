// The apps that run.mjs tries: what each needs beside its recipe, and how it is built, started and checked. All versions are exact.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInContext } from 'node:vm';
import { checkForms, checkPage, checkWeb } from './checks.mjs';
import { templates } from './templates.mjs';

const bin = (/** @type {string} */ name) => join('node_modules', '.bin', name);
const json = (/** @type {object} */ value) => JSON.stringify(value, null, 2);

/**
 * The backend of a page: Express, as in its recipe, with the files of the page.
 * @param {string} more a line of the server @param {string} folder of the files
 */
const pageServer = (
  more,
  folder = '.',
) => `import { createBrowserSession, createPosternServer, expressHandler } from '@postern/server';
import express from 'express';

const postern = createPosternServer({ url: process.env.AUTH_SERVICE_URL });
const app = express();
app.use(expressHandler(createBrowserSession(postern, { basePath: '/auth' })));
${more}
app.use(express.static('${folder}'));
app.listen(process.env.PORT);
`;

/**
 * @typedef {object} App
 * @property {string} recipe the heading in docs/frameworks.md
 * @property {string[]} packages exact versions
 * @property {string[]} [own] the packages of Postern, `client` and `server` by default
 * @property {Record<string, string>} [files] beside those of the recipe
 * @property {[string, string]} [replace] in all files of the recipe
 * @property {string[][]} [build] commands
 * @property {string[]} [start] the command of the server
 * @property {Record<string, string>} [env]
 * @property {(tools: Tools) => Promise<void>} check
 *
 * @typedef {object} Tools
 * @property {import('../../packages/server/src/testing/index.js').TestPostern} postern
 * @property {typeof import('../../packages/client/src/index.js')} client
 * @property {string} origin of the server of the app
 * @property {string} folder
 * @property {(command: string[], env?: Record<string, string>) => Promise<string>} run in the folder; returns what it prints
 * @property {() => string} output what the server has printed
 */

/** @type {Record<string, App>} */
export const apps = {
  next: {
    recipe: 'Next.js',
    own: ['client', 'react', 'server'],
    packages: [
      'next@16.4.6',
      'react@19.2.0',
      'react-dom@19.2.0',
      'typescript@5.9.3',
      '@types/react@19.2.2',
      '@types/node@20.19.24',
    ],
    files: {
      'tsconfig.json': json({
        compilerOptions: {
          strict: true,
          jsx: 'preserve',
          module: 'esnext',
          moduleResolution: 'bundler',
          lib: ['dom', 'dom.iterable', 'esnext'],
          skipLibCheck: true,
          esModuleInterop: true,
          noEmit: true,
          allowJs: true,
          incremental: true,
          isolatedModules: true,
          resolveJsonModule: true,
        },
      }),
      'next.config.mjs':
        'export default { outputFileTracingRoot: import.meta.dirname, turbopack: { root: import.meta.dirname } };\n',
      'app/layout.tsx':
        "import type { ReactNode } from 'react';\nimport { auth } from '../lib/postern';\nimport { SignOut } from './sign-out';\n\nexport default async function Layout({ children }: { children: ReactNode }) {\n  await auth();\n  return <html lang=\"en\"><body>{children}<SignOut /></body></html>;\n}\n",
      // A list that waits for data without a snapshot.
      'app/list/page.tsx':
        "import { Suspense } from 'react';\nimport { List } from './list';\n\nexport const dynamic = 'force-dynamic';\nexport default function Page() {\n  return <Suspense fallback=\"Loading\"><List /></Suspense>;\n}\n",
      'app/list/list.tsx':
        "'use client';\nimport { createPostern } from '@postern/client';\nimport { PosternProvider, useInbox } from '@postern/react';\n\nconst postern = createPostern({ url: '/auth', storage: 'backend' });\nfunction Items() {\n  return <ul>{useInbox({ suspense: true }).items.map(({ id, description }) => <li key={id}>{description}</li>)}</ul>;\n}\nexport const List = () => <PosternProvider postern={postern}><Items /></PosternProvider>;\n",
      // A component of the server may use a provider of the package itself.
      'app/direct/page.tsx':
        "import { useSession } from '@postern/react';\n\nexport default function Page() {\n  return <p>{typeof useSession}</p>;\n}\n",
      'app/inbox/page.tsx': 'export default function Page() {\n  return <p>Inbox</p>;\n}\n',
    },
    // A build has no address of Postern.
    build: [['env', '-u', 'AUTH_SERVICE_URL', bin('next'), 'build']],
    start: [bin('next'), 'start'],
    async check({ postern, client, origin, output }) {
      await checkWeb({ postern, client, origin });
      await checkForms({
        postern,
        origin,
        page: '/sign-in',
        action: (name) => (name === 'signIn' ? '/sign-in' : '/'),
        signOut: { page: '/' },
      });
      const guarded = await fetch(`${origin}/inbox`, { redirect: 'manual' });
      assert.deepEqual([guarded.status, guarded.headers.get('location')], [307, '/sign-in?return_to=%2Finbox']);
      const list = await (await fetch(`${origin}/list`)).text();
      assert.ok(list.includes('Loading'));
      assert.ok((await (await fetch(`${origin}/direct`)).text()).includes('function'));
      assert.equal(/error|⨯/i.test(output()), false, output());
    },
  },
  sveltekit: {
    recipe: 'SvelteKit',
    packages: [
      '@sveltejs/kit@2.70.4',
      '@sveltejs/adapter-node@5.5.7',
      '@sveltejs/vite-plugin-svelte@6.2.1',
      'svelte@5.57.3',
      'vite@7.3.8',
    ],
    files: {
      'vite.config.js':
        "import { sveltekit } from '@sveltejs/kit/vite';\n\nexport default { plugins: [sveltekit()] };\n",
      'svelte.config.js':
        "import adapter from '@sveltejs/adapter-node';\n\nexport default { kit: { adapter: adapter() } };\n",
      'src/app.html':
        '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n',
    },
    build: [['env', '-u', 'AUTH_SERVICE_URL', bin('vite'), 'build']],
    start: ['node', 'build'],
    async check({ postern, client, origin }) {
      await checkWeb({ postern, client, origin });
      await checkForms({ postern, origin, page: '/', action: (name) => `/?/${name}`, signOut: { page: '/' } });
    },
  },
  nuxt: {
    recipe: 'Nuxt',
    packages: ['nuxt@4.2.2', 'vue@3.5.25'],
    build: [['env', '-u', 'AUTH_SERVICE_URL', bin('nuxt'), 'build']],
    start: ['node', '.output/server/index.mjs'],
    env: { NUXT_TELEMETRY_DISABLED: '1' },
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin }),
  },
  'react-router': {
    recipe: 'React Router',
    packages: [
      'react-router@7.18.4',
      '@react-router/node@7.18.4',
      '@react-router/serve@7.18.4',
      '@react-router/dev@7.18.4',
      'react@19.2.0',
      'react-dom@19.2.0',
      'vite@7.3.8',
      'isbot@5.2.3',
      'typescript@5.9.3',
    ],
    files: {
      'vite.config.js':
        "import { reactRouter } from '@react-router/dev/vite';\n\nexport default { plugins: [reactRouter()] };\n",
      'app/root.tsx':
        'import { Outlet } from \'react-router\';\n\nexport default function Root() {\n  return <html lang="en"><body><Outlet /></body></html>;\n}\n',
    },
    build: [['env', '-u', 'AUTH_SERVICE_URL', bin('react-router'), 'build']],
    start: [bin('react-router-serve'), 'build/server/index.js'],
    check: ({ postern, client, origin }) =>
      checkWeb({ postern, client, origin, headers: { 'x-forwarded-for': '203.0.113.9' } }),
  },
  astro: {
    recipe: 'Astro',
    packages: ['astro@5.18.2', '@astrojs/node@9.5.5'],
    files: {
      'astro.config.mjs':
        "import node from '@astrojs/node';\n\nexport default { adapter: node({ mode: 'standalone' }), output: 'server', security: { allowedDomains: [{ hostname: '127.0.0.1' }] } };\n",
    },
    build: [['env', '-u', 'AUTH_SERVICE_URL', bin('astro'), 'build']],
    start: ['node', 'dist/server/entry.mjs'],
    env: { ASTRO_TELEMETRY_DISABLED: '1' },
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin }),
  },
  express: {
    recipe: 'Express',
    packages: ['express@5.3.0'],
    start: ['node', 'server.js'],
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin, api: true }),
  },
  fastify: {
    recipe: 'Fastify',
    packages: ['fastify@5.12.8'],
    start: ['node', 'server.js'],
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin, api: true }),
  },
  hono: {
    recipe: 'Hono',
    packages: ['hono@4.13.19', '@hono/node-server@2.1.9'],
    start: ['node', 'server.js'],
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin, api: true }),
  },
  koa: {
    recipe: 'Koa',
    packages: ['koa@3.3.0'],
    start: ['node', 'server.js'],
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin, api: true }),
  },
  nest: {
    recipe: 'Nest',
    packages: [
      '@nestjs/core@12.5.1',
      '@nestjs/common@12.5.1',
      '@nestjs/platform-express@12.5.1',
      'reflect-metadata@0.2.2',
      'rxjs@7.8.2',
      'typescript@5.9.3',
      '@types/node@20.19.24',
    ],
    files: {
      'tsconfig.json': json({
        compilerOptions: {
          strict: true,
          target: 'es2022',
          module: 'nodenext',
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          outDir: 'dist',
          skipLibCheck: true,
        },
        include: ['src'],
      }),
      // The recipe has only an API. The page shows the user as the other apps do.
      'src/page.ts':
        "import { auth } from './main.js';\n\nexport const page = async (request: { headers: Record<string, string | string[] | undefined> }) => (await auth.session(request))?.user_id ?? 'Sign in';\n",
    },
    replace: [
      "app.use('/api'",
      "app.use((request: any, response: any, next: any) => (request.path === '/' ? import('./page.js').then(async ({ page }) => response.send(await page(request))) : next()));\napp.use('/api'",
    ],
    build: [[bin('tsc')]],
    start: ['node', 'dist/main.js'],
    check: ({ postern, client, origin }) => checkWeb({ postern, client, origin, api: true }),
  },
  workerd: {
    recipe: 'Cloudflare Workers',
    packages: ['workerd@1.20261117.1', 'esbuild@0.27.7'],
    files: {
      'config.capnp': `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .app), (name = "internet", network = (allow = ["public", "private"])) ],
  sockets = [ (name = "http", address = "*:0", http = (), service = "main") ]
);
const app :Workerd.Worker = (modules = [ (name = "worker", esModule = embed "bundle.js") ], compatibilityDate = "2024-09-01");
`,
    },
    build: [[bin('esbuild'), 'worker.js', '--bundle', '--format=esm', '--outfile=bundle.js']],
    start: ['sh', '-c', `exec ${bin('workerd')} serve config.capnp --socket-addr http=127.0.0.1:$PORT`],
    check: ({ postern, client, origin }) =>
      checkWeb({ postern, client, origin, api: true, headers: { 'cf-connecting-ip': '203.0.113.9' } }),
  },
  bun: {
    recipe: 'Cloudflare Workers',
    packages: ['bun@1.4.5'],
    files: {
      'server.js':
        "import worker from './worker.js';\n\nBun.serve({ port: process.env.PORT, hostname: '127.0.0.1', idleTimeout: 60, fetch: worker.fetch });\n",
    },
    start: ['sh', '-c', 'exec node_modules/@oven/bun-*/bin/bun server.js'],
    check: ({ postern, client, origin }) =>
      checkWeb({ postern, client, origin, api: true, headers: { 'cf-connecting-ip': '203.0.113.9' } }),
  },
  deno: {
    recipe: 'Cloudflare Workers',
    packages: ['deno@2.9.6'],
    files: {
      'server.js':
        "import worker from './worker.js';\n\nDeno.serve({ port: Number(Deno.env.get('PORT')), hostname: '127.0.0.1' }, (request) => worker.fetch(request));\n",
    },
    start: ['sh', '-c', 'exec node_modules/@deno/*/deno run -A --node-modules-dir=manual server.js'],
    check: ({ postern, client, origin }) =>
      checkWeb({ postern, client, origin, api: true, headers: { 'cf-connecting-ip': '203.0.113.9' } }),
  },
  page: {
    recipe: 'A page without a framework',
    own: ['client', 'elements', 'server'],
    packages: ['express@5.3.0'],
    files: { 'server.js': pageServer("app.use('/node_modules', express.static('node_modules'));") },
    // Without a bundler, the page names the files of the packages.
    replace: [
      '<script type="module">',
      `<script type="importmap">${json({ imports: { '@postern/client': '/node_modules/@postern/client/dist/index.js', '@postern/client/internal': '/node_modules/@postern/client/dist/internal.js', '@postern/elements': '/node_modules/@postern/elements/dist/index.js' } })}</script>\n<script type="module">`,
    ],
    start: ['node', 'server.js'],
    check: ({ postern, origin }) =>
      checkPage({
        ...{ postern, origin, name: 'Email, phone or username', password: 'Password', next: 'Continue' },
        open: (page) => page.locator('postern-inbox button').first().click(),
      }),
  },
  vue: {
    recipe: 'Vue',
    packages: ['vue@3.5.25', 'vite@7.3.8', '@vitejs/plugin-vue@6.0.2', 'express@5.3.0'],
    files: {
      'index.html':
        '<!doctype html><title>My app</title><div id="app"></div><script type="module" src="/src/main.js"></script>\n',
      'src/main.js':
        "import { createApp } from 'vue';\nimport App from './App.vue';\n\ncreateApp(App).mount('#app');\n",
      'vite.config.js': "import vue from '@vitejs/plugin-vue';\n\nexport default { plugins: [vue()] };\n",
      'server.js': pageServer('', 'dist'),
    },
    build: [[bin('vite'), 'build']],
    start: ['node', 'server.js'],
    check: ({ postern, origin }) => checkPage({ postern, origin }),
  },
  'react-native': {
    recipe: 'React Native and Expo',
    own: ['client'],
    packages: [
      'react-native@0.81.6',
      '@react-native/metro-config@0.81.6',
      '@react-native/babel-preset@0.81.6',
      '@babel/core@7.28.5',
      'metro@0.83.1',
      'react@19.1.4',
    ],
    files: {
      'index.js':
        "import { createInbox, createLogin } from '@postern/client';\nimport { postern } from './postern';\n\nglobalThis.app = { createInbox, createLogin, postern };\n",
      'babel.config.cjs': "module.exports = { presets: ['module:@react-native/babel-preset'] };\n",
      // The native modules of a phone are not here.
      'stubs/expo/fetch.js': 'export const fetch = globalThis.fetch;\n',
      'stubs/expo-secure-store/index.js':
        'const kept = new Map();\nexport const getItemAsync = async (key) => kept.get(key) ?? null;\nexport const setItemAsync = async (key, value) => void kept.set(key, value);\nexport const deleteItemAsync = async (key) => void kept.delete(key);\n',
      'metro.config.cjs': `const { getDefaultConfig, mergeConfig } = require('@react-native/metro-config');
const { join } = require('node:path');
const stub = (name) => join(__dirname, 'stubs', name);
module.exports = mergeConfig(getDefaultConfig(__dirname), {
  resolver: { extraNodeModules: { expo: stub('expo'), 'expo-secure-store': stub('expo-secure-store') } },
  serializer: { getModulesRunBeforeMainModule: () => [], getPolyfills: () => [] },
});
`,
    },
    build: [
      [
        bin('metro'),
        'build',
        'index.js',
        '--config',
        'metro.config.cjs',
        '--out',
        'app.js',
        '--platform',
        'android',
        '--dev',
        'false',
        '--minify',
        'false',
        '--reset-cache',
      ],
    ],
    async check({ postern, folder }) {
      const { build } = await import('esbuild');
      const globals = fileURLToPath(new URL('../../packages/client/test/react-native-globals.ts', import.meta.url));
      const { outputFiles } = await build({
        entryPoints: [globals],
        bundle: true,
        platform: 'node',
        format: 'esm',
        write: false,
      });
      const { reactNative } = await import(
        `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? '').toString('base64')}`
      );
      const phone = reactNative('0.80');
      runInContext(readFileSync(join(folder, 'app.js'), 'utf8'), phone);
      const user = await postern.createUser();
      const { createInbox, createLogin, postern: client } = phone.app;
      const done = await createLogin(client).start().password({ identity: user.username, password: user.password });
      assert.equal(done.step, 'done', JSON.stringify(done));
      await postern.server.publish(
        { user_id: user.id, notification_type: 'payment', description: 'on a phone' },
        { idempotencyKey: user.id },
      );
      const items = createInbox(client, { stream: 'poll' }).list()['@@asyncIterator']();
      assert.equal((await items.next()).value.description, 'on a phone');
      assert.deepEqual({ ...(await client.logOut()) }, { revoked: true });
      client.close();
    },
  },
  // A phone cannot run here. Metro bundles the app for a browser and for Android, where Hermes compiles it.
  expo: {
    recipe: 'React Native and Expo',
    own: ['client', 'react'],
    packages: [
      'expo@54.0.38',
      'expo-secure-store@15.0.8',
      'react@19.1.4',
      'react-dom@19.1.4',
      'react-native@0.81.6',
      'react-native-web@0.21.2',
    ],
    files: {
      'app.json': json({ expo: { name: 'app', slug: 'app', platforms: ['android', 'web'] } }),
      'index.js': `import { PosternProvider, useInbox, useLogin, useSession } from '@postern/react';
import { registerRootComponent } from 'expo';
import { useState } from 'react';
import { Button, FlatList, Text, TextInput } from 'react-native';
import { postern } from './postern';

function SignIn() {
  const { state } = useLogin();
  const [identity, setIdentity] = useState('');
  const [password, setPassword] = useState('');
  return (
    <>
      <TextInput aria-label="User" onChangeText={setIdentity} />
      <TextInput aria-label="Password" secureTextEntry onChangeText={setPassword} />
      <Button title="Sign in" onPress={() => state.step === 'start' && state.password({ identity, password })} />
    </>
  );
}
const Inbox = () => <FlatList data={useInbox().items} renderItem={({ item }) => <Text>{item.description}</Text>} />;
const Screen = () => (useSession().status === 'signed_in' ? <Inbox /> : <SignIn />);

registerRootComponent(() => (
  <PosternProvider postern={postern}>
    <Screen />
  </PosternProvider>
));
`,
      // The native module of a phone is not in a browser.
      'stubs/expo-secure-store.js': `export const getItemAsync = async (key) => localStorage.getItem(key);
export const setItemAsync = async (key, value) => localStorage.setItem(key, value);
export const deleteItemAsync = async (key) => localStorage.removeItem(key);
`,
      'metro.config.cjs': `const { getDefaultConfig } = require('expo/metro-config');
const config = getDefaultConfig(__dirname);
config.resolver.resolveRequest = (context, name, platform) =>
  platform === 'web' && name === 'expo-secure-store'
    ? { type: 'sourceFile', filePath: require.resolve('./stubs/expo-secure-store.js') }
    : context.resolveRequest(context, name, platform);
module.exports = config;
`,
    },
    env: { EXPO_OFFLINE: '1', EXPO_NO_TELEMETRY: '1' },
    build: [
      [bin('expo'), 'export', '--platform', 'web', '--output-dir', 'web'],
      [bin('expo'), 'export', '--platform', 'android', '--output-dir', 'android'],
    ],
    async check({ folder }) {
      const bundles = readdirSync(join(folder, 'android/_expo/static/js/android'));
      assert.deepEqual(
        bundles.map((name) => extname(name)),
        ['.hbc'],
      );
      assert.ok(existsSync(join(folder, 'web/index.html')));
    },
  },
  jest: {
    recipe: 'Jest',
    packages: ['jest@30.5.2', 'babel-jest@30.5.2', '@babel/core@7.28.5', '@babel/preset-env@7.28.5'],
    files: {
      'app.test.js': `import { startPostern } from '@postern/server/testing';

test('a user signs in', async () => {
  const postern = await startPostern({ running: JSON.parse(process.env.RUNNING) });
  const ada = await postern.createUser();
  const page = await postern.signIn(ada);
  expect((await page.getSession()).user_id).toBe(ada.id);
  page.close();
});
`,
      'babel/page.test.js': `import { createPostern, memoryStorage } from '@postern/client';
import { createPosternServer } from '@postern/server';

test('the packages load', () => {
  expect(createPostern({ url: 'https://auth.example.com', storage: memoryStorage() }).current.status).toBe('starting');
  expect(createPosternServer({ url: 'https://auth.example.com' }).url.href).toBe('https://auth.example.com/');
});
`,
      'babel/jest.config.json': json({
        transform: { '\\.js$': ['babel-jest', { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] }] },
        transformIgnorePatterns: ['/node_modules/(?!@postern/)'],
      }),
    },
    async check({ postern, run }) {
      const docs = readFileSync(new URL('../../docs/frameworks.md', import.meta.url), 'utf8');
      const [, line = ''] = /"test": "(NODE_OPTIONS=[^"]+)"/.exec(docs) ?? [];
      assert.ok(docs.includes("`transformIgnorePatterns: ['/node_modules/(?!@postern/)']`"));
      const { url, apiKey } = postern;
      const only = `PATH=node_modules/.bin:$PATH ${line}`;
      await run(['sh', '-c', `${only} --forceExit --testPathIgnorePatterns babel`], {
        RUNNING: JSON.stringify({ url, apiKey }),
      });
      await run([
        'sh',
        '-c',
        'node_modules/.bin/jest --rootDir . -c babel/jest.config.json --testPathIgnorePatterns "app\\\\.test"',
      ]);
    },
  },
  'typescript-5.0': {
    recipe: 'Jest',
    own: ['client', 'react', 'elements', 'server'],
    packages: ['typescript@5.0.4', '@types/node@20.19.24', '@types/react@19.2.2', 'react@19.2.0'],
    files: {
      'page.ts':
        "export * from '@postern/client';\nexport * as react from '@postern/react';\nexport * as elements from '@postern/elements';\nimport { createPostern, indexedDbStorage } from '@postern/client';\nconst postern = createPostern({ url: '/auth', storage: indexedDbStorage() });\nexport const status: string = postern.current.status;\n",
      'backend.ts':
        "import { createPosternServer } from '@postern/server';\nexport * as next from '@postern/server/next';\nexport * as kit from '@postern/server/sveltekit';\nexport * as testing from '@postern/server/testing';\nexport const who = async (request: Request): Promise<string | undefined> => (await createPosternServer({ url: process.env['AUTH_SERVICE_URL'] }).verify(request))?.user_id;\n",
    },
    async check({ folder, run }) {
      for (const [file, options] of Object.entries({
        'page.ts': ['--lib', 'es2022,dom,dom.iterable', '--types', 'react'],
        'backend.ts': ['--lib', 'es2022,dom', '--types', 'node'],
      }))
        for (const [module, resolution] of [
          ['esnext', 'bundler'],
          ['nodenext', 'nodenext'],
        ]) {
          const command = [
            bin('tsc'),
            '--noEmit',
            '--strict',
            '--exactOptionalPropertyTypes',
            '--target',
            'es2022',
            '--module',
            `${module}`,
            '--moduleResolution',
            `${resolution}`,
            ...options,
            file,
          ];
          // Other packages may need a newer compiler. Only our types count, and they are checked too.
          const errors = (await run(['sh', '-c', `${command.join(' ')} || true`])).split('\n');
          assert.deepEqual(
            errors.filter((line) => /^(?:node_modules\/@postern\/|page|backend)/.test(line)),
            [],
          );
        }
      assert.ok(existsSync(join(folder, 'node_modules/@postern/client/dist/index.js.map')));
    },
  },
  templates: {
    recipe: 'Vue',
    own: ['client', 'elements'],
    packages: [
      'vue@3.5.25',
      'vue-tsc@3.3.14',
      'svelte@5.57.3',
      'svelte-check@4.7.8',
      'react@19.2.0',
      '@types/react@19.2.2',
      'typescript@5.9.3',
    ],
    files: templates,
    async check({ folder, run }) {
      const page = readFileSync(new URL('../../docs/elements.md', import.meta.url), 'utf8');
      for (const framework of ['vue', 'svelte', 'react']) {
        const declared = page.split('```').find((text) => text.includes(`declare module '${framework}`)) ?? '';
        writeFileSync(join(folder, framework, 'postern.d.ts'), declared.replace(/^\w+\n/, ''));
      }
      const commands = {
        vue: `${bin('vue-tsc')} --noEmit --pretty false -p vue`,
        svelte: `${bin('svelte-check')} --workspace svelte --output machine`,
        react: `${bin('tsc')} --noEmit --pretty false -p react`,
      };
      for (const [framework, command] of Object.entries(commands)) {
        const lines = (await run(['sh', '-c', `${command} || true`])).split('\n');
        const errors = lines.filter((line) => /error/i.test(line) && !line.includes(' COMPLETED '));
        const isWrong = (/** @type {string} */ line) => line.includes('Wrong.');
        assert.deepEqual(
          errors.filter((line) => !isWrong(line)),
          [],
          framework,
        );
        const places = new Set(errors.filter(isWrong).map((line) => /[( ](\d+)[,:]\d+/.exec(line)?.[1]));
        assert.equal(places.size, 5, `${framework}: ${errors.join('\n')}`);
      }
    },
  },
  python: {
    recipe: 'Python',
    packages: [],
    async check(tools) {
      await checkVerifier(
        tools,
        (header) => [
          'python3',
          '-c',
          `import session; found = session.session_of(${JSON.stringify(header)}); print(found and found["user_id"])`,
        ],
        'None',
      );
    },
  },
  go: {
    recipe: 'Go',
    packages: [],
    files: {
      'go.mod': 'module app\n\ngo 1.21\n',
      'main.go':
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\tsession, err := SessionOf(os.Args[1])\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tif session == nil {\n\t\tfmt.Println("None")\n\t} else {\n\t\tfmt.Println(session.UserID)\n\t}\n}\n',
    },
    build: [['go', 'build', '-o', 'app', '.']],
    async check(tools) {
      await checkVerifier(tools, (header) => ['./app', header], 'None');
    },
  },
};

/** @param {Tools} tools @param {(header: string) => string[]} command @param {string} nobody */
async function checkVerifier({ postern, run }, command, nobody) {
  const user = await postern.createUser();
  const page = await postern.signIn(user);
  const session = await page.getSession();
  const env = { AUTH_SERVICE_URL: postern.url };
  assert.equal((await run(command(`Bearer ${session?.token}`), env)).trim(), user.id);
  assert.equal((await run(command('Bearer pss_unknown'), env)).trim(), nobody);
  await assert.rejects(run(command(`Bearer ${session?.token}`), { AUTH_SERVICE_URL: 'http://127.0.0.1:1' }));
  page.close();
}
