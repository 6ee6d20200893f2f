// `npm start`: installs and builds if out of date, then runs the service in this process, so that signals and the exit code
// are those of the service.
import './lib/require-node.mjs';
import { fileURLToPath } from 'node:url';

async function main() {
  const { prepare } = await import('./lib/prepare.mjs');
  await prepare(fileURLToPath(new URL('..', import.meta.url)), { tools: false });

  const command = new URL('../dist/cli/bin.js', import.meta.url);
  process.argv = [process.execPath, fileURLToPath(command), 'serve', ...process.argv.slice(2)];
  await import(command.href);
}

main();
