import { describe, expect, it } from 'vitest';
import { segmentNames } from '../../../src/backups/base/positions.js';

describe('the segments of the write-ahead log', () => {
  it('are named from the first to the last, also if the middle of the name changes', () => {
    const names = segmentNames('0000000200000001000000FE', '000000020000000200000001', 16 * 1024 * 1024);
    expect(names).toEqual([
      '0000000200000001000000FE',
      '0000000200000001000000FF',
      '000000020000000200000000',
      '000000020000000200000001',
    ]);
  });

  it('may be a single segment', () => {
    const name = '000000010000000000000003';
    expect(segmentNames(name, name, 16 * 1024 * 1024)).toEqual([name]);
  });
});
