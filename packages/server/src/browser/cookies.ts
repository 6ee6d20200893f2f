export interface CookieOptions {
  readonly name?: string | undefined;
  /** Also for the subdomains of this domain. By default, for this host only. */
  readonly domain?: string | undefined;
  /** `lax` by default: pages that are opened by a link from another site know the user. */
  readonly sameSite?: 'lax' | 'strict' | undefined;
}

/** A cookie that scripts cannot read. */
export interface Cookie {
  readonly name: string;
  read(header: string | undefined): string | undefined;
  /** The value of `Set-Cookie`. */
  set(value: string, seconds: number): string;
  remove(): string;
}

/** @param purpose a redirect has a cookie of its own, so that two tabs do not disturb each other */
export function createCookie(
  isSecure: boolean,
  purpose: 'login' | 'device' | `redirect-${string}`,
  options: CookieOptions,
): Cookie {
  const { domain, sameSite = 'lax' } = options;
  // Browsers bind a cookie with this prefix to its host and to https.
  const prefix = isSecure && domain === undefined ? '__Host-' : '';
  const name = `${options.name ?? `${prefix}postern`}${purpose === 'login' ? '' : `-${purpose}`}`;
  const set = (value: string, seconds: number) =>
    [
      `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite === 'lax' ? 'Lax' : 'Strict'}`,
      ...(isSecure ? ['Secure'] : []),
      ...(domain === undefined ? [] : [`Domain=${domain}`]),
    ].join('; ');
  return {
    name,
    read(header = '') {
      const found = header.split(';').map((pair) => pair.trim());
      const values = found.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
      // Another site of the domain may have set a second cookie with this name. Then trust neither.
      return new Set(values).size === 1 && /^[A-Za-z0-9_-]{1,300}$/.test(values[0] ?? '') ? values[0] : undefined;
    },
    set,
    remove: () => set('', 0),
  };
}
