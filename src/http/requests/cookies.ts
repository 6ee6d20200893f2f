import type { FastifyRequest } from 'fastify';

/** The values of all cookies with these names. A browser can send several cookies with one name. */
export function cookieValues({ headers: { cookie = '' } }: FastifyRequest, names: readonly string[]): string[] {
  return cookie.split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    return names.includes(name.trim()) ? [value.join('=').trim()] : [];
  });
}

/**
 * The value of a cookie. Undefined also if the browser sends several values: then another host of the domain has set one of
 * them, and Postern cannot know which.
 */
export function cookieValue(request: FastifyRequest, name: string): string | undefined {
  const values = new Set(cookieValues(request, [name]));
  return values.size === 1 ? [...values][0] : undefined;
}
