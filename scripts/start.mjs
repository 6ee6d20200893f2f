// What `npm start` does: install if stale, build if stale, and become the service in this same process, so that
// signals and the exit code are the service's own.
import './lib/require-node.mjs';
import { fileURLToPath } from 'node:url';

async function main() {
  const { prepare } = await import('./lib/prepare.mjs');
  await prepare(fileURLToPath(new URL('..', import.meta.url)));

  const command = new URL('../dist/cli/bin.js', import.meta.url);
  process.argv = [process.execPath, fileURLToPath(command), 'serve', ...process.argv.slice(2)];
  await import(command.href);
}

main();
