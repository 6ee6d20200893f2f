import { expect, test } from 'vitest';
import { runCommand } from '../cli/command.js';
import { allPages, fencesOf, readPage } from './markdown.js';

/** Decisions and the change log describe the past. */
const pages = allPages().filter((page) => !page.startsWith('docs/decisions/') && page !== 'CHANGELOG.md');

/** The lines that a reader runs. */
const shellLines = (page: string) =>
  fencesOf(page)
    .filter(({ language }) => ['sh', 'console'].includes(language))
    .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'));

const spans = (page: string) =>
  [
    ...readPage(page)
      .replaceAll(/```.*?```/gs, '')
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, text = '']) => text);

/** The arguments of each `postern …` in a page. */
const invocations = (page: string) =>
  [...shellLines(page), ...spans(page)].flatMap((text) =>
    [
      ...text.matchAll(
        /(?:^|[\s(])(?:npm run (?:-s |--silent )?postern --|npx postern|postern|node dist\/cli\/bin\.js)(?= )([^|>#&;)]*)/g,
      ),
    ]
      .map(([, args = '']) => args.trim().split(/\s+/))
      .filter(([first = '']) => /^[a-z][a-z-]*$/.test(first) && first !== connection),
  );

/** `postern signals` is the name of a connection to PostgreSQL, and not a command. */
const connection = 'signals';

/** The leading words of a command: `users lock` of `users lock ada --for 12h`. */
async function namesOf(args: readonly string[]): Promise<{ names: readonly string[]; help: string }> {
  let names: readonly string[] = [];
  let help = (await runCommand(['help'])).stdout;
  for (const [index, word] of args.entries()) {
    if (!/^[a-z-]+$/.test(word) || word.startsWith('-') || !help.includes('\nCommands:\n')) break;
    const { code, stdout } = await runCommand(['help', ...args.slice(0, index + 1)]);
    if (code !== 0) return { names: [], help };
    names = args.slice(0, index + 1);
    help = stdout;
  }
  return { names, help };
}

test('every command of postern in the pages exists, with its options', async () => {
  const found = pages.flatMap((page) => invocations(page).map((args) => ({ page, args })));
  expect(found.length).toBeGreaterThan(60);
  const wrong: string[] = [];
  for (const { page, args } of found) {
    const { names, help } = await namesOf(args);
    if (names.length === 0) wrong.push(`${page}: postern ${args.join(' ')}`);
    for (const option of args.filter((word) => word.startsWith('--'))) {
      if (!help.includes(option.split('=', 1)[0] ?? '')) wrong.push(`${page}: postern ${names.join(' ')} ${option}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('every npm script in the pages exists', () => {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
  const used = pages.flatMap((page) =>
    [...shellLines(page), ...spans(page)].flatMap((line) =>
      [...line.matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => `${page}: ${name}`),
    ),
  );
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((use) => !((use.split(': ')[1] ?? '') in scripts))).toEqual([]);
});

test('every setting that a block of commands sets exists', () => {
  const settings = new Set(
    [...readPage('docs/configuration.md').matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map(([, name]) => name),
  );
  // Variables of the shell in examples.
  const ofShell = ['BASE', 'KEY', 'JSON', 'ADMIN', 'PUBLICATION'];
  const used = pages.flatMap((page) =>
    fencesOf(page)
      .filter(({ language }) => language === 'console')
      .flatMap(({ text }) => [...text.matchAll(/^(?:\w+=\S* )*([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name)),
  );
  expect(settings.size).toBeGreaterThan(80);
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !settings.has(name) && !ofShell.includes(name))).toEqual([]);
});

test('every route in the pages exists', () => {
  const { paths } = JSON.parse(readPage('docs/openapi.json')) as { paths: Record<string, Record<string, unknown>> };
  const known = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    })),
  );
  const used = pages.flatMap((page) =>
    spans(page).flatMap((text) => {
      const [, method = '', path = ''] = /^(GET|POST|PUT|PATCH|DELETE) (\/(?:v1|admin\/v1)\/[^\s?]+)/.exec(text) ?? [];
      return method === '' ? [] : [{ page, method, path }];
    }),
  );
  expect(used.length).toBeGreaterThan(80);
  const unknown = used.filter(
    ({ method, path }) => !known.some((route) => route.method === method && route.pattern.test(path)),
  );
  expect(unknown).toEqual([]);
});
