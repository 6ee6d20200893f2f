/**
 * What may be cached, by operation: everything else is `no-store` (OWASP ASVS 14.2.2 and 14.3.2). Errors are never
 * cached.
 */
const cacheable: Readonly<Record<string, RegExp>> = {
  // They belong to one user. A browser may keep them, and must ask before it uses them.
  'GET /v1/notifications': /^private, no-cache$/,
  'GET /v1/notifications/page': /^private, no-cache$/,
  'GET /admin/v1/users/{id}/notifications': /^private, no-cache$/,
  'GET /admin/v1/users/{id}/notifications/page': /^private, no-cache$/,
  'GET /images/{id}/{file}': /^private, max-age=(86400|1800)$/,
  // They say nothing about users.
  'GET /admin/v1/categories': /^private, no-cache$/,
  'GET /v1/login-options': /^public, max-age=60$/,
  'GET /.well-known/jwks.json': /^public, max-age=300$/,
  'GET /openapi.json': /^public, no-cache$/,
};

/** Why an answer has a wrong `Cache-Control`; undefined if it is right. @param operation `GET /v1/account` */
export function cacheControlError(
  operation: string,
  status: number,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  const value = headers['cache-control'] ?? '';
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  const rule = isStream || status >= 400 ? undefined : cacheable[operation];
  if (rule === undefined ? /^no-store(, no-transform)?$/.test(value) : rule.test(value)) return undefined;
  return `Cache-Control of ${operation} -> ${status} is "${value}"`;
}

/** The operations whose answers may be cached. */
export const cacheableOperations = Object.keys(cacheable);
