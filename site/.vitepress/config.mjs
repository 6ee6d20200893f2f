import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { pagesOf, sections, unlisted } from '../navigation.mjs';
import { staged, versions } from '../stage.mjs';

const repository = process.env.SITE_REPOSITORY || undefined;
const site = fileURLToPath(new URL('..', import.meta.url));

const titleOf = (page) =>
  /^# (.+)$/m.exec(readFileSync(join(staged, `${page}.md`), 'utf8'))?.[1].replaceAll('`', '') ?? page;
const item = (page) => ({ text: page === 'index' ? 'What do you want to do?' : titleOf(page), link: `/${page}` });
// The API reference is a page of its own, which Postern also serves at /docs.
const api = { text: 'HTTP API', link: '/api/index.html', target: '_self', rel: '' };
const exists = (page) => existsSync(join(staged, `${page}.md`));
const itemsOf = ({ pages = [], groups = [], api: hasApi }) => [
  ...(hasApi ? [api] : []),
  ...pages.filter(exists).map(item),
  ...groups.map((group) => ({ text: group.text, collapsed: true, items: itemsOf(group) })),
];

const { version, isReleased, older } = versions();
const versionItems = [
  { text: `${version}${isReleased ? '' : ' (not released yet)'}: this site`, link: '/index' },
  ...(repository === undefined ? [] : older.map((tag) => ({ text: tag, link: `${repository}/tree/${tag}/docs` }))),
  { text: 'Changes', link: '/changelog' },
  { text: 'What a version promises', link: '/releases' },
];

/** As code hosts and the test of links make them, so that a link works in both places. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

/** A gate in a wall. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#1f5fa8" d="M1 1h14v14h-4V8a3 3 0 0 0-6 0v7H1z"/></svg>';

/** The title of a group in the menu is a button that opens it. Its arrow is another button in it, which no reader of screens can tell apart. */
const oneButtonForEachGroup = {
  name: 'one-button-for-each-group',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/VPSidebarItem.vue')) return undefined;
    const arrow =
      /(class="caret"\s+)role="button"\s+aria-label="toggle section"\s+@click="onCaretClick"\s+@keydown.enter="onCaretClick"\s+tabindex="0"/;
    if (!arrow.test(code)) throw new Error('VPSidebarItem.vue has changed: look again whether its buttons are nested');
    return code.replace(arrow, '$1aria-hidden="true" @click="onCaretClick"');
  },
};

export default defineConfig({
  title: 'Postern',
  description: 'Self-hosted login and notifications on one PostgreSQL.',
  lang: 'en',
  base: process.env.SITE_BASE ?? '/',
  srcDir: '.pages',
  outDir: join(site, 'built'),
  cacheDir: join(site, '.cache'),
  // The API reference is no page of VitePress.
  ignoreDeadLinks: [/^\.?\/api\//, /^http:\/\/localhost/],
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  vite: { plugins: [oneButtonForEachGroup], build: { chunkSizeWarningLimit: 1000 } },
  // Pages contain no HTML, so that a text such as <name> is text.
  markdown: {
    html: false,
    anchor: { slugify },
    config: adaptRendering,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    siteTitle: 'Postern',
    outline: { level: [2, 3], label: 'On this page' },
    nav: [
      ...sections.map((section) => ({ text: section.text, link: `/${pagesOf(section).find(exists)}` })),
      { text: version, items: versionItems },
    ],
    sidebar: sections.map((section) => ({
      text: section.text,
      collapsed: section.text !== 'Start',
      items: itemsOf(section),
    })),
    search: { provider: 'local', options: { _render: renderForSearch } },
    docFooter: { prev: false, next: false },
    ...(repository !== undefined && {
      socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'Source code' }],
    }),
  },
});

/** Decisions and the changelog tell of the past, and would hide the page that a reader looks for. */
function renderForSearch(source, env, md) {
  const page = env.relativePath.replace(/\.md$/, '');
  if (page === 'changelog' || unlisted.some((pattern) => pattern.test(page))) return '';
  return md.render(source, env);
}

function adaptRendering(md) {
  // Vue removes a line break between two elements, and with it the space between their words.
  md.renderer.rules.softbreak = () => ' ';
  // A wide table scrolls inside its own box, which the keyboard reaches, and the page stays as wide as the screen.
  md.renderer.rules.table_open = (tokens, at) => {
    const stacked = stackOnPhones(tokens, at);
    return `<div class="table${stacked ? ' stacked' : ''}" tabindex="0" role="group" aria-label="Table"><table${stacked ? ' role="table"' : ''}>\n`;
  };
  md.renderer.rules.table_close = () => '</table></div>\n';
  // A header without text names nothing.
  const nameOf = ({ content }) => (content === '' ? 'td' : 'th');
  md.renderer.rules.th_open = (tokens, at) => `<${nameOf(tokens[at + 1])}${md.renderer.renderAttrs(tokens[at])}>`;
  md.renderer.rules.th_close = (tokens, at) => `</${nameOf(tokens[at - 1])}>`;
  // Two braces are a part of a template of Postern here, and not an expression of Vue.
  for (const rule of ['text', 'code_inline']) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...given) => render(...given).replaceAll('{{', '&#123;&#123;');
  }
}

const roles = { thead_open: 'rowgroup', tbody_open: 'rowgroup', tr_open: 'row', td_open: 'cell' };

/**
 * A table that a phone cannot show side by side gets what its style needs to show each row as a block: the name of the
 * column for each cell, and the roles, which some browsers forget when a row is a block.
 */
function stackOnPhones(tokens, start) {
  const table = tokens.slice(
    start,
    tokens.findIndex(({ type }, at) => at > start && type === 'table_close'),
  );
  const cells = table.filter(({ type }) => type === 'inline');
  const names = cells.filter((_, at) => table[table.indexOf(cells[at]) - 1].type === 'th_open').map(textOf);
  const hasLongText = names.length > 2 && cells.some((cell) => textOf(cell).length > 60);
  const hasLongCode = cells.some(({ children }) =>
    children.some(({ type, content }) => type === 'code_inline' && content.length > 28),
  );
  if (!hasLongText && !hasLongCode) return false;
  let column = 0;
  for (const [at, token] of table.entries()) {
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') token.attrSet('role', textOf(table[at + 1]) === '' ? 'cell' : 'columnheader');
    if (token.type === 'td_open') token.attrSet('data-label', names[column++] ?? '');
    if (token.type in roles) token.attrSet('role', roles[token.type]);
  }
  return true;
}

const textOf = ({ children }) => children.map(({ content }) => content).join('');
