// Checks src/, test/ and packages/ of the current folder: the import rules of .dependency-cruiser.cjs, cycles between folders of src/,
// and the places of tests.
import { existsSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { folderCycles } from './lib/folder-cycles.mjs';
import { layoutErrors } from './lib/layout.mjs';

const rules = new URL('../.dependency-cruiser.cjs', import.meta.url);
const options = await extractDepcruiseOptions(rules.pathname);
const roots = ['src', 'test', 'packages'].filter((folder) => existsSync(folder));
const { output } = await cruise(roots, options, undefined, { tsConfig: extractTSConfig('tsconfig.json') });
if (typeof output === 'string') throw new Error(output);

const { violations, totalDependenciesCruised } = output.summary;
const sources = output.modules.filter(({ source }) => source.startsWith('src/'));
const cycles = folderCycles(sources);
const misplaced = layoutErrors(process.cwd());
const errors = [
  ...violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
  ...cycles.map((cycle) => `no-folder-cycles: ${cycle.join(' -> ')}`),
  ...misplaced,
];
for (const error of errors) console.error(error);

// With an unsupported compiler, dependency-cruiser finds no modules and no violations.
const nothingChecked = sources.length === 0 || totalDependenciesCruised === 0;
if (nothingChecked) console.error('Nothing was checked.');
console.log(`${sources.length} modules of src, ${totalDependenciesCruised} imports, ${errors.length} violations`);
process.exitCode = nothingChecked || errors.length > 0 ? 1 : 0;
