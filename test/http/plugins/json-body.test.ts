import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/http/plugins/json-body.js';
import { isPlainJsonType } from '../../../src/lib/http-headers.js';
import { Problem } from '../../../src/lib/problem.js';
import { anyText } from '../../support/any-text.js';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('a JSON body', () => {
  test('is parsed to its JSON value', () => {
    const value = fc
      .jsonValue({ maxDepth: 5 })
      .filter((json) => !/"(?:__proto__|constructor)":|\\u0000/.test(JSON.stringify(json)));
    fc.assert(
      fc.property(value, (json) => {
        expect(parseJson(JSON.stringify(json))).toEqual(JSON.parse(JSON.stringify(json)));
      }),
    );
  });

  test('with any text is parsed to a value or refused with a problem, and never sets a prototype', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), (text) => {
        try {
          parseJson(`{"__proto__":{"polluted":true},"a":${text}}`);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
        expect({}).not.toHaveProperty('polluted');
      }),
    );
    expect(parseJson('{"__proto__":{"a":1},"constructor":{"prototype":{"b":1}},"c":1}')).toEqual({ c: 1 });
  });

  test('can be 32 levels deep, not counting brackets in strings', () => {
    expect(() => parseJson(nested(32))).not.toThrow();
    expect(() => parseJson(nested(33))).toThrow('malformed_json');
    expect(parseJson(JSON.stringify({ a: '['.repeat(100), b: '\\"[[' }))).toEqual({ a: '['.repeat(100), b: '\\"[[' });
  });

  test('is refused with all members that contain NUL or a lone surrogate', () => {
    const codeOf = (field?: string) => ({ ...(field && { field }), code: 'invalid_characters' });
    const refusal = (text: string) => {
      try {
        return parseJson(text);
      } catch (error) {
        return (error as Problem).options.errors;
      }
    };
    expect(
      refusal('{"a":"\\u0000","b":[{"c":"\\ud800"},"\\u0041"],"d":{"\\u0000":1,"\\udc00":2,"e":"\\u0000"}}'),
    ).toEqual(['a', 'b.0.c', 'd', 'd.e'].map(codeOf));
    expect(refusal('["\\u0000"]')).toEqual([codeOf('0')]);
    expect(refusal('"\\u0000"')).toEqual([codeOf()]);
    expect(refusal(JSON.stringify(Array(1000).fill('\0')))).toHaveLength(20);
  });

  test('cannot contain NUL or a lone surrogate, in names and values at any depth', () => {
    for (const text of ['{"a":["\\u0000"]}', '{"a\\u0000":1}', '["\\ud800"]', '{"a":{"b":"x\\udc00"}}']) {
      expect(() => parseJson(text)).toThrow('validation_failed');
    }
    expect(parseJson('["\\ud83d\\ude00"]')).toEqual(['😀']);
  });
});

test('a content type of any length is refused in linear time', async () => {
  const timeOf = (spaces: number) => {
    const start = process.cpuUsage();
    for (let time = 0; time < 20; time += 1) isPlainJsonType(`application/json; charset=utf-8${' '.repeat(spaces)}x`);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  // The CPU time of this process in microseconds, and the fastest of several runs, because other processes share the
  // machine.
  const cost = (spaces: number) => Math.min(...Array.from({ length: 7 }, () => timeOf(spaces)));
  cost(1000);
  // Sixteen times as long: in quadratic time, it would take 256 times as long.
  expect(cost(16_000)).toBeLessThan(Math.max(1000, cost(1000)) * 100);
  for (const type of ['application/json', 'Application/JSON ; charset="UTF-8" ;', 'application/json;']) {
    expect(isPlainJsonType(type)).toBe(true);
  }
  for (const type of ['application/jsonx', 'application/json; charset=latin1', 'application/json; a=b', 'text/json']) {
    expect(isPlainJsonType(type)).toBe(false);
  }
});
