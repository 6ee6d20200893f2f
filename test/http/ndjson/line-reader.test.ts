import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineReader, type Line } from '../../../src/http/ndjson/line-reader.js';

function read(pieces: readonly Buffer[], maxBytes: number): Line[] {
  const reader = createLineReader(maxBytes);
  const lines: Line[] = [];
  for (const piece of pieces) {
    reader.feed(piece);
    for (let line = reader.next(); line !== undefined; line = reader.next()) lines.push(line);
  }
  const last = reader.end();
  return last === undefined ? lines : [...lines, last];
}

const pieces = fc.array(
  fc.array(fc.constantFrom('a', 'b', '\r', '\n'), { maxLength: 12 }).map((characters) => characters.join('')),
  { maxLength: 90 },
);

test('the lines do not depend on the pieces of the text, and lines that are too long are marked', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 6 }), (texts, maxBytes) => {
      const whole = texts.join('').split('\n');
      if (whole.at(-1) === '') whole.pop();
      const expected = whole.map((text, index) => {
        const bare = text.endsWith('\r') ? text.slice(0, -1) : text;
        return { number: index + 1, text: bare.length > maxBytes ? undefined : bare };
      });
      const found = read(
        texts.map((text) => Buffer.from(text)),
        maxBytes,
      );
      expect(found.map(({ number, bytes }) => ({ number, text: bytes?.toString() }))).toEqual(expected);
    }),
  );
});
