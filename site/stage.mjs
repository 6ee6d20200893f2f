/** Copies the pages to the folder that VitePress reads, and adapts their links. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromElsewhere } from './navigation.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const staged = join(root, 'site/.pages');

/** The version in package.json, and the tags of older ones. Outside of a clone there are no tags. */
export function versions() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  let tags = [];
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    tags = execFileSync('git', ['tag', '--list', 'v*', '--sort=-version:refname'], options).split('\n').filter(Boolean);
  } catch {}
  return { version, isReleased: tags.includes(`v${version}`), older: tags.filter((tag) => tag !== `v${version}`) };
}

/** The files of the site: its path, and the path in the project. */
function files() {
  const paths = readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(root, join(entry.parentPath, entry.name)));
  const ofDocs = paths.map((path) => [path.slice('docs/'.length), path]);
  const others = Object.entries(fromElsewhere).map(([name, path]) => [`${name}.md`, path]);
  // The README is the first page of the project on a code host. The site has its own first page.
  return new Map([...ofDocs, ...others]);
}

/**
 * Rewrites the links of a page outside of code.
 * @param repository where files that are no pages can be read. Without it, such a link becomes its text
 */
export function adaptLinks(text, { from, to, pages, repository }) {
  const link = (whole, label, target) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return whole;
    const [path, anchor] = target.split('#');
    const source = posix.normalize(posix.join(posix.dirname(from), path));
    const page = source === 'README.md' ? 'index.md' : pages.get(source);
    if (page !== undefined) {
      const relative = posix.relative(posix.dirname(to), page);
      return `[${label}](./${relative}${anchor === undefined ? '' : `#${anchor}`})`;
    }
    // VitePress reports it, and the build fails.
    if (!existsSync(join(root, source))) return whole;
    return repository === undefined ? label : `[${label}](${repository}/blob/HEAD/${source})`;
  };
  const links = /(^```[\s\S]*?^```)|(?<!!)\[((?:[^\][`]|`[^`\n]*`)+)\]\(([^)\s]+)\)/gm;
  return text.replaceAll(links, (whole, code, label, target) =>
    code === undefined ? link(whole, label, target) : whole,
  );
}

/** Writes the pages for VitePress. */
export function stage(repository) {
  rmSync(staged, { recursive: true, force: true });
  const all = files();
  const pages = new Map([...all].map(([to, from]) => [from, to]));
  for (const [to, from] of all) {
    const target = join(staged, to);
    mkdirSync(dirname(target), { recursive: true });
    if (!to.endsWith('.md')) {
      // Images are imported by pages. Other files are served as they are.
      cpSync(join(root, from), to.startsWith('images/') ? target : join(staged, 'public', to), { recursive: true });
      continue;
    }
    writeFileSync(target, adaptLinks(readFileSync(join(root, from), 'utf8'), { from, to, pages, repository }));
  }
  if (!existsSync(join(staged, 'index.md'))) throw new Error('docs/index.md is missing');
}
