import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkHeader } from '../../../src/http/lists/links.js';
import { anyText } from '../../support/any-text.js';

/** Parses a header as published clients do: entries end at every comma, parameters at every `; `. */
function parseAsPublishedClientsDo(header: string): Record<string, URL> {
  return Object.fromEntries(
    header.split(',').map((entry) => {
      const [reference = '', parameter = ''] = entry.split('; ');
      return [parameter.slice('rel="'.length, -1), new URL(reference.slice(1, -1), 'http://localhost')];
    }),
  );
}

describe('linkHeader', () => {
  it('writes path-absolute references on one line, joined by a comma without a space', () => {
    const header = linkHeader({
      path: '/v1/notifications',
      query: { limit: '20' },
      relations: { next: { page: '3' }, last: { page: '9' }, first: { page: '1' }, prev: { page: '1' } },
    });
    expect(header).toBe(
      '</v1/notifications?page=1&limit=20>; rel="first",</v1/notifications?page=1&limit=20>; rel="prev",' +
        '</v1/notifications?page=3&limit=20>; rel="next",</v1/notifications?page=9&limit=20>; rel="last"',
    );
  });

  it('leaves out relations that do not exist', () => {
    const links = { path: '/v1/notifications', query: {} };
    expect(linkHeader({ ...links, relations: { first: { page: '1' }, next: undefined } })).toBe(
      '</v1/notifications?page=1>; rel="first"',
    );
    expect(linkHeader({ ...links, relations: {} })).toBe('');
  });

  it("lets a relation's parameters override the client's own", () => {
    const query = { page: '2', filter: 'actor:eq:Ann' };
    expect(linkHeader({ path: '/v1/notifications', query, relations: { next: { page: '3' } } })).toBe(
      '</v1/notifications?page=3&filter=actor%3Aeq%3AAnn>; rel="next"',
    );
  });

  it('percent-encodes every character that could end a reference, an entry or the line', () => {
    const query = { filter: 'a,b;c<d>"e" \'f\'\r\n+*%|\\é😀' };
    expect(linkHeader({ path: '/v1/notifications', query, relations: { first: {} } })).toBe(
      '</v1/notifications?filter=a%2Cb%3Bc%3Cd%3E%22e%22%20%27f%27%0D%0A%2B%2A%25%7C%5C%C3%A9%F0%9F%98%80>; rel="first"',
    );
  });

  it('keeps all parameters when it is parsed again', () => {
    const parameters = fc.dictionary(anyText({ minLength: 1 }), anyText());
    fc.assert(
      fc.property(parameters, parameters, parameters, (query, first, next) => {
        const header = linkHeader({ path: '/v1/notifications', query, relations: { first, next } });
        expect(header).toMatch(/^[\x21-\x7e ]+$/);
        const links = parseAsPublishedClientsDo(header);
        expect(Object.keys(links)).toEqual(['first', 'next']);
        expect(links.first?.pathname).toBe('/v1/notifications');
        expect(new Map(links.first?.searchParams)).toEqual(new Map(Object.entries({ ...query, ...first })));
        expect(new Map(links.next?.searchParams)).toEqual(new Map(Object.entries({ ...query, ...next })));
      }),
    );
  });

  it('replaces a lone surrogate instead of failing', () => {
    expect(linkHeader({ path: '/p', query: { filter: '\ud800' }, relations: { first: {} } })).toBe(
      '</p?filter=%EF%BF%BD>; rel="first"',
    );
  });
});
