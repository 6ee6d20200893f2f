// Builds the package of the current folder into its dist/: the compiled sources with their types. `npm pack` runs it.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './lib/run.mjs';

rmSync('dist', { recursive: true, force: true });
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
process.exitCode = (await run(process.execPath, [compiler, '-p', '.'], { cwd: process.cwd() })) ? 0 : 1;
