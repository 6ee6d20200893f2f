import { afterEach, describe, expect, test, vi } from 'vitest';
import { readEncodedImage } from '../../../src/http/uploads/encoded-image.js';
import type { Problem } from '../../../src/lib/problem.js';

/** Reads a body that arrives in pieces of these sizes, again and again. */
async function read(body: string | Buffer, sizes: readonly number[] = [65_536], maxFileBytes = 1000_000) {
  const bytes = Buffer.from(body);
  async function* pieces() {
    for (let at = 0, n = 0; at < bytes.length; n += 1) {
      const size = sizes[n % sizes.length] ?? 1;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  const { text, file } = await readEncodedImage(pieces(), {
    maxBytes: 2_000_000,
    maxFileBytes,
  });
  return { text: text.toString(), file };
}

function refusalOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    const { code, options } = error as Problem;
    return options.errors?.[0]?.code ?? code;
  }
}

const file = Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256));
const base64 = file.toString('base64');
/** How encoders of JSON write base64: PHP escapes `/`, .NET escapes `+`. */
const spellings = [
  base64,
  base64.replaceAll('/', '\\/'),
  base64.replaceAll('+', '\\u002B').replaceAll('/', '\\u002f'),
  base64.replace(/=+$/, ''),
  `data:image\\/png;base64,${base64}`,
  `data:image/png;name=a;base64,${base64}`,
];

test.each(spellings)('decodes a file that arrives in any pieces: %.30s', async (spelling) => {
  const body = `{ "a": "\\"encoded\\":\\"x", "encoded" :\n"${spelling}", "b": [{"encoded": "c"}] }`;
  for (const sizes of [[65_536], [1], [2, 3, 5], [997]]) {
    const { text, file: read_ } = await read(body, sizes);
    expect(JSON.parse(text)).toEqual({ a: '"encoded":"x', encoded: '', b: [{ encoded: 'c' }] });
    expect(read_?.().equals(file)).toBe(true);
  }
});

test('decodes files of every small length, and refuses all other spellings of each', async () => {
  for (let length = 1; length < 20; length += 1) {
    const content = file.subarray(0, length);
    const encoded = content.toString('base64');
    expect((await read(`{"encoded":"${encoded}"}`)).file?.()).toEqual(content);
    for (const wrong of [`${encoded}=`, `=${encoded}`, `${encoded}A===`, encoded.replace(/.(?==*$)/, '-')]) {
      const result = await read(`{"encoded":"${wrong}"}`, [1, 4]);
      expect([wrong, refusalOf(() => result.file?.())]).toEqual([wrong, 'invalid_format']);
    }
  }
});

test.each([
  ['a character that is not base64', `${base64.slice(0, 3000)}*${base64.slice(3000)}`],
  ['a space', `${base64.slice(0, 3000)} ${base64.slice(3000)}`],
  ['a line break', `${base64.slice(0, 3000)}\\n${base64.slice(3000)}`],
  ['an escaped backslash', `${base64.slice(0, 3000)}\\\\/${base64.slice(3000)}`],
  ['a backslash as a code', `${base64.slice(0, 3000)}\\u005c/${base64.slice(3000)}`],
  ['an escape that is cut off', `${base64}\\u00`],
  ['an escaped quotation mark', `${base64.slice(0, 3000)}\\"`],
  ['padding in the middle', `${base64.slice(0, 3000)}=${base64.slice(3000)}`],
  ['characters beyond ASCII', `${base64.slice(0, 3000)}ÄÖ${base64.slice(3000)}`],
  ['the letters of URLs', 'AA-_'.repeat(1000)],
  ['unused bits that are not zero', 'AB=='],
  ['a prefix without an end', 'data:image/png,AAAA'],
  ['a prefix that is too long', `data:${'a'.repeat(3000)};base64,AAAA`],
])('a file with %s is refused', async (_name, encoded) => {
  for (const sizes of [[65_536], [1, 2, 3]]) {
    const result = await read(`{"encoded":"${encoded}"}`, sizes);
    expect(refusalOf(() => result.file?.())).toBe('invalid_format');
  }
});

test('an empty file is refused, and a longer one than allowed', async () => {
  expect(refusalOf((await read('{"encoded":""}')).file as () => unknown)).toBe('required');
  const exact = Buffer.alloc(3001).toString('base64');
  expect((await read(`{"encoded":"${exact}"}`, [100], 3001)).file?.().length).toBe(3001);
  const { file: tooLong } = await read(`{"encoded":"${exact}"}`, [100], 3000);
  expect(refusalOf(() => tooLong?.())).toBe('payload_too_large');
});

test.each([
  ['{}'],
  ['{"url":"https://example.com/\\"encoded\\":\\"AAAA"}'],
  ['{"encoded":7}'],
  ['{"encoded":null,"x":{"encoded":"AAAA"}}'],
  ['["encoded",{"encoded":"AAAA"}]'],
  ['{"\\u0065ncoded":"AAAA"}'],
  ['"encoded"'],
  ['no JSON'],
])('%s has no file to decode, and stays as it is', async (body) => {
  expect(await read(body, [1])).toEqual({ text: body, file: undefined });
});

test('of several files the last one counts, as in JSON', async () => {
  const { text, file: last } = await read('{"encoded":"AAAA","encoded":"BBBB"}', [1]);
  expect([JSON.parse(text), last?.().toString('base64')]).toEqual([{ encoded: '' }, 'BBBB']);
});

test('a body is refused if it is too long, or what surrounds the file', async () => {
  const problem = expect.objectContaining({ code: 'payload_too_large' });
  await expect(read(`{"encoded":"${'A'.repeat(2_000_000)}"}`)).rejects.toEqual(problem);
  await expect(read(`{"url":"${'A'.repeat(70_000)}"}`)).rejects.toEqual(problem);
  await expect(read('['.repeat(70_000))).rejects.toEqual(problem);
});

test('what surrounds a file is all that is parsed as JSON, however long the file is', async () => {
  const { text } = await read(`{"encoded":"${'A'.repeat(1_000_000)}"}`);
  expect(text).toBe('{"encoded":""}');
});

// The collector of garbage outside of the heap blocks the event loop, and large files cause it.
describe('the memory of a file', () => {
  afterEach(() => vi.restoreAllMocks());

  /** Reads a body of a known length. @returns the file, and how many bytes were allocated outside of the heap */
  async function allocated(body: Buffer) {
    const spies = [vi.spyOn(Buffer, 'allocUnsafeSlow'), vi.spyOn(Buffer, 'concat'), vi.spyOn(Buffer, 'from')];
    async function* pieces() {
      for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536);
    }
    const sizes = { maxBytes: 5_000_000, maxFileBytes: 4_000_000, bodyBytes: body.length };
    const { file: end } = await readEncodedImage(pieces(), sizes);
    const decoded = end?.();
    const buffers = spies.flatMap(({ mock }) => mock.results.map(({ value }) => value as Buffer));
    return { decoded, bytes: buffers.reduce((sum, { length }) => sum + length, 0) };
  }

  test('is reserved once if the length of the body is known', async () => {
    const large = Buffer.alloc(3_000_000, 7);
    const { decoded, bytes } = await allocated(Buffer.from(`{"encoded":"${large.toString('base64')}"}`));
    expect(bytes).toBeLessThan(1.1 * large.length);
    expect(decoded?.equals(large)).toBe(true);
  });

  test('is not reserved for many members with the same name', async () => {
    const body = Buffer.from(`{${`"encoded":"${'A'.repeat(2000)}",`.repeat(1000)}"encoded":"AAAA"}`);
    const { decoded, bytes } = await allocated(body);
    expect(bytes).toBeLessThan(2 * body.length);
    expect(decoded?.length).toBe(3);
  });
});
