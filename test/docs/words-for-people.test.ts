import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The sources with texts that people read: of the elements, the console, messages, and errors. */
async function sources(): Promise<readonly (readonly [path: string, text: string])[]> {
  const folders = ['packages/elements/src', 'console/src/text', 'src/messages', 'src/contract/errors', 'src/users'];
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name)),
    ),
  );
  const paths = [...names.flat(), 'src/http/routes/link.ts', 'src/http/routes/redirects.ts'];
  const texts = paths.filter((path) => path.endsWith('.ts')).sort();
  return Promise.all(texts.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const));
}

/** The texts of a source: literals that contain a space or begin with a capital letter. Ids and imports do neither. */
const literals = (source: string) =>
  [...source.matchAll(/(?<!from )(?:'(?:[^'\\\n]|\\.)*'|`[^`]*`|"[^"\n]*")/g)]
    .map(([text]) => text.slice(1, -1))
    .filter((text) => / |^\p{Lu}/u.test(text));

/** Forms of "usted". Those of "tú" are written otherwise: `escribe`, not `escriba`. */
const formal = new RegExp(
  `(?<![\\p{L}])(?:usted(?:es)?|${[
    'abra acote active borre busque cambie compruebe confirme copie corrija cree cópiel[ao] divídalo ejecute elija elíjal[ao]',
    'empiece entre escanee escriba espere expórtelo envíe envíelo guarde inicie introduzca inténtelo pida permita ponga pruebe',
    'publique recargue reinténtelo resuelva revise use utilice vaya vea',
  ]
    .join(' ')
    .split(' ')
    .join('|')})(?![\\p{L}])`,
  'iu',
);
/** The same forms are subjunctives after these words: "hasta que el usuario abra". */
const subjunctive = /(?:hasta|que|después de|cuando|si|antes de)\b[^.,;:]*$/i;

test('Spanish texts say "tú", as those of the elements and mails do', async () => {
  const found: string[] = [];
  for (const [path, source] of await sources()) {
    for (const text of literals(source)) {
      const isSpanish = /\/es\/|-es\.ts$|\/es\.ts$/.test(path) || /[áéíóúñ¿¡]/.test(text);
      const match = isSpanish ? formal.exec(text) : null;
      if (match && !subjunctive.test(text.slice(0, match.index))) found.push(`${path}: ${text}`);
    }
  }
  expect(found).toEqual([]);
});

test('people sign in and sign out, and never log in', async () => {
  const found: string[] = [];
  for (const [path, source] of await sources()) {
    // These are also for developers, for whom a login is a resource of the API.
    if (path.startsWith('src/contract') || path === 'src/messages/kinds.ts') continue;
    for (const text of literals(source)) {
      if (
        /\blog(?:s|ged|ging)? (?:in|out)\b|\blogins?\b|\blogouts?\b/i.test(text) &&
        !/[a-z]_[a-z]|\bselect\b/.test(text)
      )
        found.push(`${path}: ${text}`);
    }
  }
  expect(found).toEqual([]);
});
