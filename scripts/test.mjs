// `npm test`. Arguments go to Vitest. With `--changed` only the tests run that what is not committed may affect, and with
// `--changed=main` those that the difference to main may affect.
import './lib/require-node.mjs';
import { fileURLToPath } from 'node:url';

async function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { prepare } = await import('./lib/prepare.mjs');
  await prepare(root, { tools: true });

  const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url);
  process.chdir(root);
  process.argv = [process.execPath, fileURLToPath(vitest), ...(await vitestArguments(root, process.argv.slice(2)))];
  await import(vitest.href);
}

/** @param {string} root @param {string[]} args */
async function vitestArguments(root, args) {
  const at = args.findIndex((arg) => /^--changed(=|$)/.test(arg));
  if (at < 0) return ['run', ...args];
  const { changedFiles, testFiles, touchedFiles } = await import('./lib/changed-tests.mjs');
  // Both `--changed=main` and `--changed main`, as Vitest takes it.
  const next = args[at] === '--changed' && /^[^-]/.test(args[at + 1] ?? '') ? args[at + 1] : undefined;
  const since = next ?? (args[at]?.slice('--changed='.length) || 'HEAD');
  const others = args.toSpliced(at, next === undefined ? 1 : 2);
  const changed = changedFiles(root, since);
  const touched = touchedFiles(changed, testFiles(root));
  return touched === undefined ? ['run', ...others] : ['related', '--run', ...others, ...touched];
}

main();
