import fc from 'fast-check';

const isHalf = (code: number) => code >= 0xd800 && code <= 0xdfff;
const character = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => !isHalf(code))
  .map(
    (code) => String.fromCodePoint(code),
    (text) => {
      const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
      if (code === undefined || isHalf(code) || String.fromCodePoint(code) !== text) throw new Error('no character');
      return code;
    },
  );

/**
 * Any text of any characters of Unicode, and texts such as `__proto__`. The unit `binary` of fast-check gives the same, but
 * each process that uses it builds a table of all characters for 2 s.
 */
export const anyText = (lengths: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc.string({ ...lengths, unit: character });
