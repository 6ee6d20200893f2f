import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
const root = join(folder, '../..');

/** The examples in the comments of the sources. */
async function examples(): Promise<string[]> {
  const names = await readdir(join(folder, 'src'), { recursive: true });
  const texts = await Promise.all(
    names.filter((name) => name.endsWith('.ts')).map((name) => readFile(join(folder, 'src', name), 'utf8')),
  );
  return texts.flatMap((text) =>
    [...text.matchAll(/^ \* ```ts\n(.*?)^ \* ```$/gms)].map(([, code = '']) => code.replaceAll(/^ \* ?/gm, '')),
  );
}

test('the examples in the comments compile in a browser project and in a Node.js project', {
  timeout: 120_000,
}, async () => {
  const codes = await examples();
  expect(codes.length).toBeGreaterThan(8);
  await mkdir(join(root, 'node_modules/.cache'), { recursive: true });
  const work = await mkdtemp(join(root, 'node_modules/.cache/postern-examples-'));
  try {
    for (const [index, code] of codes.entries()) await writeFile(join(work, `example-${index}.ts`), code);
    for (const [name, platform] of Object.entries({
      browser: { lib: ['es2022', 'dom', 'dom.iterable'], types: [], module: 'esnext', moduleResolution: 'bundler' },
      node: { lib: ['es2022'], types: ['node'], module: 'nodenext', moduleResolution: 'nodenext' },
    })) {
      const compilerOptions = {
        ...{ strict: true, noEmit: true, target: 'es2022', exactOptionalPropertyTypes: true, ...platform },
        paths: { '@postern/client': [join(folder, 'src/index.ts')] },
      };
      const config = join(work, `${name}.json`);
      await writeFile(join(work, 'package.json'), '{"type":"module"}');
      await writeFile(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', config]).catch((error) => error);
      expect(stdout).toBe('');
    }
  } finally {
    await rm(work, { recursive: true });
  }
});
