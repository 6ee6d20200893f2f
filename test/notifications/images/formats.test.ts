import { expect, test } from 'vitest';
import { formatOf } from '../../../src/notifications/images/formats.js';

const jpeg = Buffer.alloc(200_000, 1);
jpeg.write('\xff\xd8\xff', 'latin1');

// Files are read in blocks of 64 KiB.
test.each([0, 100, 65_527, 65_530, 65_535, 65_536, 131_070, 199_991])(
  'a file that contains a page at byte %i has no format',
  (at) => {
    const file = Buffer.from(jpeg);
    file.write('<!DOCTYPE', at === 0 ? 3 : at);
    expect([formatOf(file), formatOf(jpeg)]).toEqual([undefined, 'jpeg']);
  },
);
