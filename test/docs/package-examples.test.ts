// The examples in the READMEs and in the comments of the packages, and in the recipes. Few runs of the compiler, because each reads the sources of
// the packages.
import { expect, test } from 'vitest';
import { compileErrors, examplesIn, withoutExample } from '../support/package-examples.js';
import { codesIn, readPage, recipes } from './markdown.js';

const sources = {
  '@postern/client': 'packages/client/src/index.ts',
  '@postern/client/internal': 'packages/client/src/internal.ts',
  '@postern/elements': 'packages/elements/src/index.ts',
  '@postern/elements/*': 'packages/elements/src/*/index.ts',
  '@postern/react': 'packages/react/src/index.ts',
  '@postern/server': 'packages/server/src/index.ts',
  '@postern/server/next': 'packages/server/src/next/index.ts',
  '@postern/server/sveltekit': 'packages/server/src/sveltekit/index.ts',
  '@postern/server/testing': 'packages/server/src/testing/index.ts',
};

// Not the elements with the client, whose examples name the providers of an app: the types of the elements are for any names.
const projects = [
  ['browser', ['client', 'react']],
  ['browser', ['elements']],
  ['node', ['client', 'server']],
] as const;

test.each(projects)('in a project for the platform "%s", the examples of %j compile', async (platform, packages) => {
  const examples = await Promise.all(
    packages.map(async (name) => {
      const language = name === 'react' ? 'tsx' : 'ts';
      const codes = await examplesIn(`packages/${name}/src`, language);
      expect(codes.length, name).toBeGreaterThan(2);
      return codes.map((code) => ({ code, language }) as const);
    }),
  );
  const inRecipes = packages.some((name) => name === 'react') ? codesIn(recipes, 'js') : [];
  const all = [...examples.flat(), ...inRecipes.map((code) => ({ code, language: 'ts' }) as const)];
  expect(await compileErrors(all, platform, sources)).toBe('');
});

test('every function and class that an app can import has an example', () => {
  const entries = ['client', 'react', 'elements', 'server'].flatMap((name) => {
    const { exports } = JSON.parse(readPage(`packages/${name}/package.json`)) as {
      exports: Record<string, string | { types: string }>;
    };
    return Object.entries(exports).flatMap(([path, target]) =>
      typeof target === 'string' || notForApps.includes(`${name}/${path}`)
        ? []
        : [`packages/${name}/${target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, 'src/$1.ts')}`],
    );
  });
  const { count, missing } = withoutExample(entries, sources);
  expect(count).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});

/** What the packages share, and a script that browsers load. */
const notForApps = ['client/./internal', 'client/./worker'];
