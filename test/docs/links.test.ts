import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { allPages, readPage, root } from './markdown.js';

/** Targets of links and images within the project. */
function relativeTargets(page: string): string[] {
  const text = readPage(page).replaceAll(/```.*?```|`[^`\n]*`/gs, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page's headings, as common Markdown renderers create them. */
function anchorsOf(page: string): string[] {
  const headings = readPage(page)
    .replaceAll(/```.*?```/gs, '')
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isBroken(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return true;
  return anchor !== undefined && !anchorsOf(file).includes(anchor);
}

test('pages link to each other', () => {
  expect(allPages().flatMap(relativeTargets).length).toBeGreaterThan(20);
});

test.each(allPages())('every relative link of %s has an existing file and heading', (page) => {
  expect(relativeTargets(page).filter((target) => isBroken(page, target))).toEqual([]);
});
