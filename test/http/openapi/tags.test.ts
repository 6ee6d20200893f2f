import { describe, expect, test } from 'vitest';
import { tagOf } from '../../../src/http/openapi/tags.js';

describe('tags of operations', () => {
  test.each([
    ['/v1/tokens', 'Tokens'],
    ['/v1/tokens/:id/secret', 'Tokens'],
    ['/v1/recovery-cancellations', 'Account'],
    ['/admin/v1/users/:id', 'Administration'],
    ['/admin/v1/webhooks/:id/test', 'Webhooks'],
    ['/images/:id/:file', 'Images'],
  ])('%s is in %s', (url, tag) => {
    expect(tagOf(url)).toBe(tag);
  });

  test.each(['/v2/tokens', '/v1/tokensets', '/'])('%s has no tag, so its operation cannot be described', (url) => {
    expect(() => tagOf(url)).toThrow(`${url} has no tag: add its path to openapi/tags.ts`);
  });
});
