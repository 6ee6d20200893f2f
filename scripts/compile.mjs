// Compiles the service: `node scripts/compile.mjs [folder]`, by default into dist/.
import { readFileSync } from 'node:fs';
import { build } from 'rolldown';

/**
 * Packages of many small files, which become part of the program. The others stay outside: some find files beside their own,
 * and the objects of some must be the same for the service and for another package.
 */
const joined = ['typebox', '@fastify/type-provider-typebox', 'libphonenumber-js'];

process.chdir(import.meta.dirname);
process.chdir('..');
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const outside = Object.keys(dependencies).filter((name) => !joined.includes(name));

// A few files load in less than half of the time of a thousand (decision 42). CI checks the types.
await build({
  input: { 'cli/bin': 'src/cli/bin.ts', 'cli/workers/worker': 'src/cli/workers/worker.ts', tools: 'src/tools.ts' },
  external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
  platform: 'node',
  tsconfig: false,
  output: {
    dir: process.argv[2] ?? 'dist',
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
});
