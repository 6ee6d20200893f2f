import type { DateStyle, Formatter } from './parse.js';

/** Formats values for a language. */
export interface Formats {
  /** The text of a value; undefined if the formatter cannot format it. */
  format(value: unknown, formatter: Formatter, currency: string): string | undefined;
}

/** Building a format of Intl takes about as long as this many steps of rendering. */
const stepsOfFormat = 100;

const dateOptions: Readonly<Record<DateStyle, Intl.DateTimeFormatOptions>> = {
  short: { dateStyle: 'short' },
  medium: { dateStyle: 'medium' },
  long: { dateStyle: 'long' },
  full: { dateStyle: 'full' },
  time: { timeStyle: 'short' },
  datetime: { dateStyle: 'medium', timeStyle: 'short' },
};

/** @param spend called with the number of steps that a new format of Intl costs */
export function createFormats(
  { locale, timeZone }: { readonly locale: string; readonly timeZone: string },
  spend: (steps: number) => void,
): Formats {
  const built = new Map<string, unknown>();
  function cached<Format>(key: string, build: () => Format): Format {
    if (!built.has(key)) {
      spend(stepsOfFormat);
      built.set(key, build());
    }
    return built.get(key) as Format;
  }
  const numbers = (options: Intl.NumberFormatOptions) =>
    cached(`number ${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options));

  return {
    format(value, formatter, currency) {
      if (formatter.name === 'date') {
        const date = dateOf(value);
        const { style } = formatter;
        const build = () => new Intl.DateTimeFormat(locale, { ...dateOptions[style], timeZone });
        return date && cached(`date ${style}`, build).format(date);
      }
      const number = numberOf(value);
      if (number === undefined) return undefined;
      if (formatter.name === 'number') {
        const { digits } = formatter;
        const decimals = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
        return numbers(decimals).format(number);
      }
      if (formatter.name === 'currency') {
        const code = 'literal' in formatter.code ? formatter.code.literal : currency;
        // A code has three letters. Others would make Intl throw.
        if (!/^[A-Za-z]{3}$/.test(code)) return undefined;
        return numbers({ style: 'currency', currency: code.toUpperCase() }).format(number);
      }
      const form = cached('plural', () => new Intl.PluralRules(locale)).select(number);
      return formatter.forms.get(form) ?? formatter.forms.get('other');
    },
  };
}

/** A number, or its decimal text. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^-?\d{1,300}(?:\.\d{1,300})?$/.test(value)) return undefined;
  return Number(value);
}

/** A time of RFC 3339, or a date. */
function dateOf(value: unknown): Date | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d(?:[Tt ][\d:.]{5,20}(?:[Zz]|[+-]\d\d:?\d\d)?)?$/.test(value)) {
    return undefined;
  }
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
