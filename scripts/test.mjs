// `npm test`. Arguments go to Vitest.
import './lib/require-node.mjs';
import { fileURLToPath } from 'node:url';

async function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { prepare } = await import('./lib/prepare.mjs');
  await prepare(root, { tools: true });

  const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url);
  process.chdir(root);
  process.argv = [process.execPath, fileURLToPath(vitest), 'run', ...process.argv.slice(2)];
  await import(vitest.href);
}

main();
