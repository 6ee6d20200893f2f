import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allPages, readPage, root } from './markdown.js';

interface Navigation {
  readonly sections: readonly object[];
  readonly pagesOf: (section: object) => string[];
  readonly unlisted: readonly RegExp[];
  readonly fromElsewhere: Readonly<Record<string, string>>;
}
interface Stage {
  adaptLinks(
    text: string,
    page: { from: string; to: string; pages: ReadonlyMap<string, string>; repository: string | undefined },
  ): string;
}
// The site is JavaScript without types, because it runs before anything is built.
const load = (name: string): Promise<unknown> => import(new URL(`../../site/${name}`, import.meta.url).href);
const { sections, pagesOf, unlisted, fromElsewhere } = (await load('navigation.mjs')) as Navigation;
const { adaptLinks } = (await load('stage.mjs')) as Stage;

const listed: string[] = sections.flatMap(pagesOf);
const ofSite = allPages()
  .filter((page) => page.startsWith('docs/'))
  .map((page) => page.slice('docs/'.length, -'.md'.length));

test('the menu of the site has each page once, and each of its pages exists', () => {
  expect(listed.filter((page, index) => listed.indexOf(page) !== index)).toEqual([]);
  const isUnlisted = (page: string) => unlisted.some((pattern) => pattern.test(page));
  expect(ofSite.filter((page) => !listed.includes(page) && !isUnlisted(page))).toEqual([]);
  const elsewhere = Object.keys(fromElsewhere);
  expect(listed.filter((page) => !ofSite.includes(page) && !elsewhere.includes(page))).toEqual([]);
  for (const path of Object.values(fromElsewhere)) expect(existsSync(join(root, path)), path).toBe(true);
});

test('the site has its own packages, so that a first start installs none of them', () => {
  const { workspaces, dependencies, devDependencies } = JSON.parse(readPage('package.json')) as {
    workspaces: string[];
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  expect(workspaces).toEqual(['packages/*']);
  const own = JSON.parse(readPage('site/package.json')) as { devDependencies: Record<string, string> };
  const names = Object.keys(own.devDependencies);
  expect(names).toContain('vitepress');
  for (const name of names) expect({ ...dependencies, ...devDependencies }).not.toHaveProperty(name);
});

const pages = new Map([
  ['docs/guide.md', 'guide.md'],
  ['SECURITY.md', 'security.md'],
  ['docs/operations/install.md', 'operations/install.md'],
]);
const adapt = (text: string, repository?: string) =>
  adaptLinks(text, { from: 'docs/operations/install.md', to: 'operations/install.md', pages, repository });

test('links to pages stay within the site', () => {
  expect(adapt('[a](../guide.md#pages), [b](../../SECURITY.md), [c](#stop), [d](../../README.md)')).toBe(
    '[a](./../guide.md#pages), [b](./../security.md), [c](#stop), [d](./../index.md)',
  );
  expect(adapt('[`a` and b](../guide.md) ![p](../images/console-user.png)')).toBe(
    '[`a` and b](./../guide.md) ![p](../images/console-user.png)',
  );
});

test('links to files lead to the repository, or are only text where nobody knows it', () => {
  expect(adapt('[x](../../package.json)', 'https://example.com/p')).toBe(
    '[x](https://example.com/p/blob/HEAD/package.json)',
  );
  expect(adapt('[x](../../package.json)')).toBe('x');
});

test('a link to nothing stays, so that the build of the site fails', () => {
  expect(adapt('[x](../nothing.md)', 'https://example.com/p')).toBe('[x](../nothing.md)');
});

test('code stays as it is', () => {
  const code = '```md\n[x](../../package.json)\n```\n';
  expect(adapt(code)).toBe(code);
});
