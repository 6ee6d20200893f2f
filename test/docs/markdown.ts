import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of a page. */
export interface Fence {
  readonly language: string;
  readonly text: string;
  /** The line of the page, from 1, where the text of the block begins. */
  readonly line: number;
}

export const readPage = (page: string): string => readFileSync(`${root}${page}`, 'utf8');

/** All pages of the project, as paths from its root. */
export function allPages(): string[] {
  const inDocs = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }).map((path) => `docs/${path}`);
  return [...readdirSync(root), ...inDocs].filter((path) => path.endsWith('.md')).sort();
}

export function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: { language: string; lines: string[]; line: number } | undefined;
  for (const [index, line] of readPage(page).split('\n').entries()) {
    if (!line.startsWith('```')) {
      open?.lines.push(line);
    } else if (open === undefined) {
      open = { language: line.slice(3), lines: [], line: index + 2 };
    } else {
      fences.push({ language: open.language, text: open.lines.join('\n'), line: open.line });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${page}: the block of line ${open.line} has no end`);
  return fences;
}

/** The pages of recipes. */
export const recipes: readonly string[] = allPages().filter((page) => page.startsWith('docs/recipes/'));

/** The texts of the blocks of a language. */
export const codesIn = (pages: readonly string[], language: string): string[] =>
  pages.flatMap((page) => fencesOf(page).filter((fence) => fence.language === language)).map(({ text }) => text);
