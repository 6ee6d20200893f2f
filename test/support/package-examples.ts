import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { fencesOf } from '../docs/markdown.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The examples in the README and in the comments of the sources of a package, such as `packages/client/src`. @param language `tsx` for React */
export async function examplesIn(folder: string, language: 'ts' | 'tsx' = 'ts'): Promise<string[]> {
  const readme = fencesOf(join(folder, '../README.md')).filter((fence) => fence.language === language);
  const names = await readdir(join(root, folder), { recursive: true });
  const sources = names.filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(sources.map((name) => readFile(join(root, folder, name), 'utf8')));
  const inSources = texts.flatMap((text) =>
    [...text.matchAll(new RegExp(`^ \\* \`\`\`${language}\n(.*?)^ \\* \`\`\`$`, 'gms'))].map(([, code = '']) =>
      code.replaceAll(/^ \* ?/gm, ''),
    ),
  );
  return [...readme.map(({ text }) => text), ...inSources];
}

/**
 * The functions, classes and hooks that an app can import, without an `@example` that {@link examplesIn} finds.
 * @param entries the sources of the modules that an app imports
 * @param packages the sources of the packages that they import
 * @returns how many there are in all, and those without an example, such as `packages/client/src/topics.ts: createTopics`
 */
export function withoutExample(
  entries: readonly string[],
  packages: Readonly<Record<string, string>>,
): { readonly count: number; readonly missing: readonly string[] } {
  const program = ts.createProgram(
    entries.map((entry) => join(root, entry)),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      jsx: ts.JsxEmit.ReactJSX,
      skipLibCheck: true,
      paths: Object.fromEntries(Object.entries(packages).map(([name, path]) => [name, [join(root, path)]])),
    },
  );
  const checker = program.getTypeChecker();
  const missing = new Map<ts.Symbol, string | undefined>();
  for (const entry of entries) {
    const file = program.getSourceFile(join(root, entry));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} exports nothing`);
    for (const exported of checker.getExportsOfModule(module)) {
      if (exported.declarations?.some(ts.isTypeOnlyExportDeclaration)) continue;
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      const [declaration] = symbol.declarations ?? [];
      if (declaration === undefined) throw new Error(`${entry} exports ${exported.name}, which cannot be found`);
      if ((symbol.flags & ts.SymbolFlags.Value) === 0) continue;
      const hasExample = symbol
        .getJsDocTags(checker)
        .some((tag) => tag.name === 'example' && /^```tsx?$/m.test(ts.displayPartsToString(tag.text)));
      const place = relative(root, declaration.getSourceFile().fileName);
      missing.set(symbol, hasExample ? undefined : `${place}: ${symbol.name}`);
    }
  }
  return { count: missing.size, missing: [...missing.values()].filter((name) => name !== undefined) };
}

/** What a project compiles for. */
export const platforms = {
  browser: { lib: ['es2022', 'dom', 'dom.iterable'], types: [], module: 'esnext', moduleResolution: 'bundler' },
  node: { lib: ['es2022', 'esnext.disposable'], types: ['node'], module: 'nodenext', moduleResolution: 'nodenext' },
};

export interface Example {
  readonly code: string;
  readonly language: 'ts' | 'tsx';
}

/** Compiles each example as a module of a project. @returns the errors of the compiler, empty if there are none */
export async function compileErrors(
  examples: readonly Example[],
  platform: keyof typeof platforms,
  packages: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(join(root, 'node_modules/.cache'), { recursive: true });
  const work = await mkdtemp(join(root, 'node_modules/.cache/postern-examples-'));
  try {
    for (const [index, { code, language }] of examples.entries())
      await writeFile(join(work, `example-${index}.${language}`), code);
    const compilerOptions = {
      ...{
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: 'es2022',
        exactOptionalPropertyTypes: true,
        jsx: 'react-jsx',
      },
      ...platforms[platform],
      paths: Object.fromEntries(Object.entries(packages).map(([name, path]) => [name, [join(root, path)]])),
    };
    await writeFile(join(work, 'package.json'), '{"type":"module"}');
    await writeFile(join(work, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', work]).catch((error) => error);
    return stdout;
  } finally {
    await rm(work, { recursive: true });
  }
}
