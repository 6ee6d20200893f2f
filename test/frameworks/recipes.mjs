// The recipes of docs/frameworks.md, as files of an app.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = readFileSync(fileURLToPath(new URL('../../docs/frameworks.md', import.meta.url)), 'utf8');

/** The first line of a block, or the second one of an Astro file, names its file. */
const fileName = /^(?:---\n)?(?:\/\/|#|<!--) ([\w./[\]+-]+)(?: -->)?\n/;

/**
 * The files of the recipe with this heading. Those below a heading of the third level are not necessary for a login.
 * @param {string} heading @returns {{ path: string, code: string, isNecessary: boolean }[]}
 */
export function recipeOf(heading) {
  const [, section] = page.split(new RegExp(`^## ${heading}\n`, 'm'));
  if (section === undefined) throw new Error(`docs/frameworks.md has no recipe "${heading}".`);
  const text = section.split(/^## /m)[0] ?? '';
  const necessary = text.split(/^### /m)[0] ?? '';
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].flatMap(([, code = '']) => {
    const path = fileName.exec(code)?.[1];
    const isNecessary = necessary.includes(code);
    return path === undefined ? [] : [{ path, code: code.replace(/^<!-- .* -->\n/, ''), isNecessary }];
  });
}

/** Names that a recipe has from a package of Postern, or from its own file that makes them. */
const importedNames = /import (?:type )?(?:\* as )?\{?([^}]*?)\}? from '(?:@postern\/[\w/]+|[./\w-]*postern[\w./-]*)'/g;

/**
 * The glue of a recipe: lines that import or call a package, or read what it returned. Forms, texts and the set-up of the framework
 * are no glue.
 * @param {{ code: string, isNecessary: boolean }[]} recipe
 */
export function glueOf(recipe) {
  const files = recipe.filter(({ isNecessary }) => isNecessary);
  const all = files.map(({ code }) => code).join('\n');
  const names = [...all.matchAll(importedNames)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.trim().split(/ as /).at(-1) ?? ''),
  );
  const made = [
    ...all.matchAll(/(?:const|let) (?:\{([^}]*)\}|(\w+)) = (?:await )?(?:create\w+|postern|auth|signIn)\b/g),
  ].flatMap(([, list, name]) => (list ?? name ?? '').split(',').map((text) => text.trim()));
  const known = new Set(
    [...names, ...made, 'session', 'locals', 'loader', 'action'].filter((name) => /^\w+$/.test(name)),
  );
  const usesName = new RegExp(`@postern/|\\b(?:${[...known].join('|')})\\b`);
  const isComment = /^\s*(?:\/\/|#|import .* from '(?!@postern|[./\w-]*postern))/;
  return files.flatMap(({ code }) => code.split('\n')).filter((line) => usesName.test(line) && !isComment.test(line));
}
