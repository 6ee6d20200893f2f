// Installs packages and builds if they are out of date, as `npm start` does before it serves, with the packages of developers.
import './lib/require-node.mjs';
import { fileURLToPath } from 'node:url';

async function main() {
  const { prepare } = await import('./lib/prepare.mjs');
  await prepare(fileURLToPath(new URL('..', import.meta.url)), { tools: true });
}

main();
