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
  /** Every value that the browser sends: another site of the domain may have set further cookies with this name. */
  readAll(header: string | undefined): string[];
  /** The value of `Set-Cookie`. */
  set(value: string, seconds: number): string;
  remove(): string;
}

/** @param purpose a redirect has a cookie of its own, so that two tabs do not disturb each other */
export function createCookie(
  isSecure: boolean,
  purpose: 'login' | 'device' | 'guest' | `redirect-${string}`,
  options: CookieOptions,
): Cookie {
  const { domain, sameSite = 'lax' } = options;
  // Browsers bind a cookie with these prefixes to https, and one with the first of them to its host too.
  const prefix = isSecure ? (domain === undefined ? '__Host-' : '__Secure-') : '';
  const name = `${options.name ?? `${prefix}postern`}${purpose === 'login' ? '' : `-${purpose}`}`;
  const set = (value: string, seconds: number) =>
    [
      `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite === 'lax' ? 'Lax' : 'Strict'}`,
      ...(isSecure ? ['Secure'] : []),
      ...(domain === undefined ? [] : [`Domain=${domain}`]),
    ].join('; ');
  const valuesIn = (header = '') => {
    // Not `trim`, which removes more than blanks: another host may set a cookie with the byte A0 before `__Host-`.
    const found = header.split(';').map((pair) => pair.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, ''));
    const values = found.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
    return [...new Set(values)];
  };
  const isToken = (value: string) => /^[A-Za-z0-9_-]{1,300}$/.test(value);
  return {
    name,
    read(header) {
      const values = valuesIn(header);
      // Another site of the domain may have set a second cookie with this name. Then trust neither.
      return values.length === 1 ? values.find(isToken) : undefined;
    },
    readAll: (header) => valuesIn(header).filter(isToken),
    set,
    remove: () => set('', 0),
  };
}
