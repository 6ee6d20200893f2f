import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILD_TIMEOUT, buildService, startTestService, type TestService } from '../support/process.js';
import { allPages, type Fence, fencesOf, root } from './markdown.js';

/** The index of operations. Its commands run before those of each page about operations. */
const operations = 'docs/operations.md';
const isAboutOperations = (page: string) => page.startsWith('docs/operations/');
const isRecipe = (page: string) => page.startsWith('docs/recipes/');
const isRun = ({ language }: Fence) => language === 'sh';
const blocksOf = (page: string) => fencesOf(page).filter(isRun);
const pages = [
  ...[
    'README.md',
    'docs/guide.md',
    'docs/bulk.md',
    'docs/account.md',
    'docs/second-factors.md',
    'docs/notifications-people-want.md',
  ],
  ...allPages().filter((page) => (isAboutOperations(page) || isRecipe(page)) && blocksOf(page).length > 0),
];

/** `sh` is run here. `json` and `http` show the answer to the block before them. The others are not run in this shell. */
const languages = ['sh', 'json', 'http', 'console', 'js', 'sql', ''];

let service: TestService;
beforeAll(async () => {
  await buildService();
  // The links in mails to unsubscribe need an address.
  service = await startTestService({ REGISTRATION: 'on', PUBLIC_URL: 'http://127.0.0.1:8080' });
}, BUILD_TIMEOUT);
afterAll(() => service.stop());

/** The results of one block of commands. */
interface BlockResult {
  readonly output: string;
  /** The HTTP status of each curl, in order. */
  readonly statuses: readonly string[];
}

const separator = '-- end of block --';

/** Runs the blocks of a page in one shell. `curl` is curl, and also writes the status of each answer to descriptor 3. */
async function runBlocks(
  blocks: readonly Fence[],
): Promise<{ exitCode: number; stderr: string; results: BlockResult[] }> {
  const script = [
    `curl() { command curl --disable --write-out '%{stderr}%{http_code}\\n' "$@" 2>&3; }`,
    ...blocks.map((block) => `${block.text}\necho; echo '${separator}'; echo '${separator}' >&3`),
  ].join('\n');
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8', BASE: service.url, KEY: service.adminKey },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, output, errors, statusOutput] = shell.stdio;
  const [stdout, stderr, statuses, [exitCode]] = await Promise.all([
    text(output as Readable),
    text(errors as Readable),
    text(statusOutput as Readable),
    once(shell, 'close') as Promise<[number]>,
  ]);
  const statusesOfBlocks = statuses.split(separator);
  const results = stdout.split(separator).map((output, index) => ({
    output: output.trim(),
    statuses: statusesOfBlocks[index]?.trim().split(/\s+/).filter(Boolean) ?? [],
  }));
  return { exitCode, stderr: `${stderr}${exitCode === 0 ? '' : statuses}`, results };
}

const expectedStatuses = ({ text }: Fence) => [...text.matchAll(/# -> (\d{3})/g)].map(([, status]) => status);

/** Replaces tokens, ids, times and the port, which differ in each run. */
const normalise = (text: string) =>
  text
    .replaceAll(service.url, 'http://127.0.0.1:8080')
    .replaceAll(/(ps[ask]_)(?:[\w-]{60,80}|…)/g, '$1…')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, '(time)');

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
const headerName = (line: string) => line.split(/[\s:]/, 1)[0];

/** The headers of an answer that the page shows. */
function shownHeaders(output: string, shown: readonly string[]): string[] {
  const names = new Set(shown.map(headerName));
  return linesOf(output).filter((line) => names.has(headerName(line)));
}

test('the pages have commands', () => {
  expect(pages.length).toBeGreaterThan(7);
  for (const page of pages.filter((page) => !isAboutOperations(page) && !isRecipe(page))) {
    expect(blocksOf(page).length).toBeGreaterThan(2);
  }
});

test.each([...new Set([...pages, ...allPages().filter(isAboutOperations), operations])])(
  '%s has only blocks of known languages',
  (page) => {
    const used = fencesOf(page).map(({ language }) => language);
    expect(used.filter((language) => !languages.includes(language))).toEqual([]);
  },
);

describe.each(pages)('%s', (page) => {
  const fences = fencesOf(page);
  const blocks = fences.filter(isRun);
  const blocksBefore = isAboutOperations(page) ? blocksOf(operations) : [];
  /** The block after the commands, which may show their answer. */
  const answerTo = (block: Fence) => fences[fences.indexOf(block) + 1];

  let run: Awaited<ReturnType<typeof runBlocks>>;
  beforeAll(async () => {
    run = await runBlocks([...blocksBefore, ...blocks]);
  });

  test('runs in one shell without a failing command', () => {
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.results).toHaveLength(blocksBefore.length + blocks.length + 1);
  });

  test.each(blocks.map((block, index) => ({ ...block, block, index })))(
    'line $line: the commands get the answer that the page shows',
    ({ block, index }) => {
      const { output, statuses } = run.results[blocksBefore.length + index] ?? {
        output: '',
        statuses: ['the block did not run'],
      };
      expect(statuses).toEqual(expectedStatuses(block));
      const answer = answerTo(block);
      if (answer?.language === 'json') {
        expect(JSON.parse(normalise(output))).toEqual(JSON.parse(normalise(answer.text)));
      } else if (answer?.language === 'http') {
        const shown = linesOf(normalise(answer.text));
        expect(shownHeaders(normalise(output), shown)).toEqual(shown);
      }
    },
  );
});
