import type { FastifyRequest } from 'fastify';

/**
 * Only blanks and tabs surround names and values (RFC 6265, 4.2.1). `trim` would remove more, such as the byte A0: another host of the
 * domain may set a cookie with this byte before `__Host-`, because browsers do not see the prefix then.
 */
const withoutBlanks = (text: string) => text.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');

/** The values of all cookies with these names. A browser can send several cookies with one name. */
export function cookieValues({ headers: { cookie = '' } }: FastifyRequest, names: readonly string[]): string[] {
  return cookie.split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    // A pair without `=` is a value without a name.
    return value.length > 0 && names.includes(withoutBlanks(name)) ? [withoutBlanks(value.join('='))] : [];
  });
}

/** How many different tokens of one request are looked at. Each takes statements, and a header has room for 150. */
const maxTokens = 4;

/** The first different values of all cookies with these names, for a request that ends the login of each. */
export const cookieTokens = (request: FastifyRequest, names: readonly string[]): string[] =>
  [...new Set(cookieValues(request, names))].slice(0, maxTokens);

/**
 * The value of a cookie. Undefined also if the browser sends several values: then another host of the domain has set one of
 * them, and Postern cannot know which.
 */
export function cookieValue(request: FastifyRequest, name: string): string | undefined {
  const values = new Set(cookieValues(request, [name]));
  return values.size === 1 ? [...values][0] : undefined;
}
