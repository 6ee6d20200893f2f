import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instantAfter, instantFromPg, parseTime } from '../../src/lib/times.js';

const two = (value: number) => String(value).padStart(2, '0');

/** Whole seconds of the years 0002 to 9998, where any offset stays in range, with a fraction of 0 to 6 digits. */
const moments = fc.record({
  date: fc.date({ min: new Date('0002-01-01T00:00:00Z'), max: new Date('9998-12-31T23:59:59Z'), noInvalidDate: true }),
  fraction: fc.stringMatching(/^\d{0,6}$/),
});

function parts(date: Date, fraction: string) {
  const iso = date.toISOString();
  return {
    day: iso.slice(0, 10),
    clock: `${iso.slice(11, 19)}${fraction && `.${fraction}`}`,
    instant: `${iso.slice(0, 19)}.${fraction.padEnd(6, '0')}Z`,
  };
}

describe('instantAfter', () => {
  it.each([
    ['2017-10-19 17:02:03.181879', 60, '2017-10-19T17:03:03.181879Z'],
    ['2016-02-28 23:59:59.000001', 1, '2016-02-29T00:00:00.000001Z'],
    ['2017-10-19 17:02:03', 0, '2017-10-19T17:02:03.000000Z'],
  ])('%s and %i seconds are %s', (text, seconds, later) => {
    expect(instantAfter(instantFromPg(`${text}+00`), seconds)).toBe(later);
  });
});

describe('instantFromPg', () => {
  it.each([
    ['2017-10-19 17:02:03+00', '2017-10-19T17:02:03.000000Z'],
    ['2017-10-19 17:02:03.1+00', '2017-10-19T17:02:03.100000Z'],
    ['2017-10-19 17:02:03.18+00', '2017-10-19T17:02:03.180000Z'],
    ['2017-10-19 17:02:03.181879+00', '2017-10-19T17:02:03.181879Z'],
    ['0001-01-01 00:00:00.000001+00', '0001-01-01T00:00:00.000001Z'],
  ])('writes %s as %s', (text, instant) => {
    expect(instantFromPg(text)).toBe(instant);
  });

  it.each([
    '2017-10-19 17:02:03.18+02',
    '2017-10-19 17:02:03.18',
    '2017-10-19T17:02:03+00',
    '10/19/2017 17:02:03+00',
    '12017-10-19 17:02:03+00',
    '0044-03-15 12:00:00+00 BC',
    'infinity',
    '',
  ])('refuses "%s", which is not ISO in UTC with a four-digit year', (text) => {
    expect(() => instantFromPg(text)).toThrow(RangeError);
  });

  it('formats any time as parseTime reads it', () => {
    fc.assert(
      fc.property(moments, ({ date, fraction }) => {
        const { day, clock, instant } = parts(date, fraction);
        expect(instantFromPg(`${day} ${clock}+00`)).toBe(instant);
        expect(parseTime(instant)).toBe(instant);
      }),
    );
  });
});

describe('parseTime', () => {
  it.each([
    ['2020-01-01 10:00:00', '2020-01-01T10:00:00.000000Z'],
    ['2020-01-01 10:00:00.123456', '2020-01-01T10:00:00.123456Z'],
    ['2020-01-01T10:00:00Z', '2020-01-01T10:00:00.000000Z'],
    ['2020-01-01t10:00:00.5z', '2020-01-01T10:00:00.500000Z'],
    ['2020-01-01T00:00:00.000001+02:00', '2019-12-31T22:00:00.000001Z'],
    ['2020-02-28T23:30:00-00:30', '2020-02-29T00:00:00.000000Z'],
    ['2020-01-01T10:00:00-00:00', '2020-01-01T10:00:00.000000Z'],
    ['2020-02-29 00:00:00', '2020-02-29T00:00:00.000000Z'],
    ['0001-01-01 00:00:00', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('reads %s as %s', (text, instant) => {
    expect(parseTime(text)).toBe(instant);
  });

  it('reads a space as a plus, but only after a T', () => {
    expect(parseTime('2020-01-01T00:00:00 02:00')).toBe('2019-12-31T22:00:00.000000Z');
    expect(parseTime('2020-01-01 00:00:00 02:00')).toBeUndefined();
  });

  it.each([
    '2019-02-29 00:00:00',
    '1900-02-29 00:00:00',
    '2020-02-30 00:00:00',
    '2020-04-31T00:00:00Z',
    '2020-00-01 00:00:00',
    '2020-13-01 00:00:00',
    '2020-01-00 00:00:00',
    '2020-01-01 24:00:00',
    '2020-01-01 23:60:00',
    '2016-12-31T23:59:60Z',
    '2020-01-01T00:00:00+24:00',
    '2020-01-01T00:00:00+00:60',
    '0000-01-01 00:00:00',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '10000-01-01 00:00:00',
  ])('refuses %s, which does not exist', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it.each([
    '',
    '2020-01-01',
    '2020-01-01 10:00',
    '2020-01-01 10:00:00.',
    '2020-01-01 10:00:00.1234567',
    '2020-01-01  10:00:00',
    ' 2020-01-01 10:00:00',
    '2020-01-01 10:00:00\n',
    '2020-01-01T10:00:00',
    '2020-01-01 10:00:00Z',
    '2020-01-01T10:00:00+0200',
    '2020-1-1 10:00:00',
    '+020-01-01 10:00:00',
    '٢٠٢٠-01-01 10:00:00',
    '1577872800',
    'infinity',
    'now',
  ])('refuses "%s", which has another form', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it('applies any offset and keeps every microsecond', () => {
    const offsets = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(moments, offsets, ({ date, fraction }, offset) => {
        const local = parts(new Date(date.getTime() + offset * 60_000), fraction);
        const size = Math.abs(offset);
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        expect(parseTime(`${local.day}T${local.clock}${zone}`)).toBe(parts(date, fraction).instant);
      }),
    );
  });

  it('returns for any text an instant that it reads back unchanged, or undefined', () => {
    const timeLike = fc.stringMatching(
      /^\d{4}-[01]\d-[0-3]\d[T ][0-2]\d:[0-6]\d:[0-6]\d(\.\d{1,7})?(Z|[+-]\d\d:\d\d)?$/,
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), timeLike), (text) => {
        const instant = parseTime(text);
        if (instant === undefined) return;
        expect(instant).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        expect(parseTime(instant)).toBe(instant);
      }),
    );
  });
});
