// Holds the import rules of .dependency-cruiser.cjs over src/ and test/ of the folder it is run in.
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const rules = new URL('../.dependency-cruiser.cjs', import.meta.url);
const options = await extractDepcruiseOptions(rules.pathname);
const { output } = await cruise(['src', 'test'], options, undefined, { tsConfig: extractTSConfig('tsconfig.json') });
if (typeof output === 'string') throw new Error(output);

const { violations, totalDependenciesCruised } = output.summary;
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} -> ${to}`);

// With a compiler that it cannot use, dependency-cruiser finds nothing, and nothing to complain about.
const modules = output.modules.filter(({ source }) => source.startsWith('src/')).length;
const vacuous = modules === 0 || totalDependenciesCruised === 0;
if (vacuous) console.error('Nothing was checked.');
console.log(`${modules} modules of src, ${totalDependenciesCruised} imports, ${violations.length} violations`);
process.exitCode = vacuous || violations.length > 0 ? 1 : 0;
