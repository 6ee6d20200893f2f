import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Position,
  parsePosition,
  parseSnapshot,
  positionAfter,
  positionText,
  snapshotText,
} from '../../../src/audit/stream/position.js';

const run = '0123456789abcdef';
const id = '00000000-0000-4000-8000-00000000000a';
/** Positions without a last event, or with a last event of the first running transaction. */
const positions = fc
  .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 40 }), { maxLength: 20 }), fc.boolean())
  .map(([numbers, hasLast]): Position => {
    const ascending = numbers.sort((one, other) => one - other);
    const running = ascending.slice(0, -1);
    const [transaction] = running;
    const position = { run, xmax: ascending.at(-1) ?? 7, running };
    return hasLast && transaction !== undefined ? { ...position, last: { transaction, id } } : position;
  });

describe('the text of a position', () => {
  it('is read as the same position', () => {
    fc.assert(
      fc.property(positions, (position) => {
        expect(parsePosition(positionText(position))).toEqual(position);
      }),
    );
  });

  it.each([
    ['of another kind', '12'],
    ['without a run id', '-a'],
    ['with a run id that is too short', 'abc-a'],
    ['without a transaction number', `${run}-`],
    ['with a transaction number of zero', `${run}-0`],
    ['with a running transaction that is not older', `${run}-a.0`],
    ['with a running transaction before the first', `${run}-a.a`],
    ['with running transactions in another order', `${run}-a.2.4`],
    ['with a last event of a transaction that was not running', `${run}-a.2_3.${id}`],
    ['with a last event that is no id', `${run}-a.2_2.abc`],
    ['with capital letters', `${run}-A`],
    ['with text after it', `${run}-a\n`],
  ])('is refused %s', (_, text) => {
    expect(parsePosition(text)).toBeUndefined();
  });

  it('is refused, or read and written without a change', () => {
    const texts = fc.array(fc.constantFrom('a', '1', '0', '.', '_', '-', 'A', id)).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parsePosition(`${run}-${text}`);
        if (parsed !== undefined) expect(parsePosition(positionText(parsed))).toEqual(parsed);
      }),
    );
  });
});

describe('a snapshot', () => {
  it('is read and written in the format of PostgreSQL', () => {
    expect(parseSnapshot('5:9:5,7')).toEqual({ xmax: 9, running: [5, 7] });
    expect(parseSnapshot('9:9:')).toEqual({ xmax: 9, running: [] });
    for (const text of ['5:9:5,7', '9:9:']) expect(snapshotText(parseSnapshot(text))).toBe(text);
  });
});

describe('the position after an event', () => {
  const from: Position = { run, xmax: 10, running: [4, 6, 8] };
  const snapshot = { xmax: 20, running: [4, 12] };
  const afterEventOf = (transaction: number, base = from) => positionAfter(base, snapshot, { transaction, id });

  it('marks all later transactions as not sent, and those of the earlier ones that still run', () => {
    expect(afterEventOf(6)).toEqual({ run, xmax: 10, running: [4, 6, 8], last: { transaction: 6, id } });
    expect(afterEventOf(8)).toEqual({ run, xmax: 10, running: [4, 8], last: { transaction: 8, id } });
    expect(afterEventOf(11)).toEqual({ run, xmax: 12, running: [4, 11], last: { transaction: 11, id } });
    expect(afterEventOf(15)).toEqual({ run, xmax: 16, running: [4, 12, 15], last: { transaction: 15, id } });
  });

  it('does not change what it says about other transactions if an earlier event of its transaction was sent', () => {
    const base = { ...from, last: { transaction: 8, id: run } };
    expect(afterEventOf(8, base)).toEqual({ ...from, last: { transaction: 8, id } });
    expect(afterEventOf(6, base)).toEqual({ run, xmax: 10, running: [4, 6], last: { transaction: 6, id } });
  });
});
