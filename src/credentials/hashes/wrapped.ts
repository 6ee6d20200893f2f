import type { PasswordHash } from './password-hash.js';

/**
 * A stored hash. If `outer` is set, it is an imported hash that was weak and is wrapped in argon2id: `derive` computes the imported hash, and
 * `outer` is the argon2id of the result (`outerInput`), as a PHC string. The imported hash itself is not stored, so `output` has only zeros.
 */
export type StoredHash = PasswordHash & { readonly outer?: string };

const phc = /^\$argon2id\$v=19\$(m=\d+,t=\d+,p=\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const wrapped = /^\$argon2id\((m=\d+,t=\d+,p=\d+)\)(\$.+)\$([^$]+)\$([A-Za-z0-9+/]+),([A-Za-z0-9+/]+)$/;

/** The text that is hashed with argon2id for an output of an imported hash. */
export const outerInput = (output: Buffer): string => output.toString('base64');

/** The scheme of wrapped hashes. @param outer a scheme of argon2id. @param inner the scheme of the imported hashes */
export function wrappedScheme(outer: string, inner: string): string {
  // $argon2id$v=19$m=…,t=…,p=… becomes $argon2id(m=…,t=…,p=…).
  return `${outer.replace('$v=19$', '(')})${inner}`;
}

/**
 * The text of a wrapped hash: `$argon2id(m=19456,t=2,p=1)$pbkdf2-sha256$1000$salt:A*43$salt,hash`. After argon2id's parameters come the scheme
 * of the imported hash (`$pbkdf2-sha256$1000`), what else this hash needs, and argon2id's own salt and output. So the SQL function
 * `imported_scheme` finds the scheme. `A*43` means 43 times `A`, zeros in base64: some algorithms need the length of the output.
 * @param outer the argon2id of `outerInput`, as a PHC string
 */
export function wrappedText(inner: PasswordHash, outer: string): string {
  const [, parameters = '', salt = '', output = ''] = phc.exec(outer) ?? [];
  const rest = inner.withoutOutput.slice(inner.scheme.length + 1).replace('$', ':');
  const short = rest.replace(/(A+|\.+)$/, (zeros) => `${zeros.slice(0, 1)}*${zeros.length}`);
  return `$argon2id(${parameters})${inner.scheme}$${short}$${salt},${output}`;
}

/**
 * @param parseInner parses the text of a hash that is not wrapped
 * @returns undefined if the text is no wrapped hash
 */
export function parseWrapped(
  text: string,
  parseInner: (text: string) => PasswordHash | undefined,
): StoredHash | undefined {
  const [, parameters, innerScheme = '', rest = '', salt, output] = wrapped.exec(text) ?? [];
  if (parameters === undefined) return undefined;
  const long = rest.replace(/([A.])\*(\d{1,3})$/, (_, zero: string, count: string) => zero.repeat(Number(count)));
  // `wrappedText` has put a colon in the place of the $ between salt and output. bcrypt has no such $.
  const inner = parseInner(`${innerScheme}$${long.replace(/:([^:]*)$/, '$$$1')}`);
  if (inner?.scheme !== innerScheme) return undefined;
  const scheme = `$argon2id(${parameters})${innerScheme}`;
  return { ...inner, scheme, stored: text, outer: `$argon2id$v=19$${parameters}$${salt}$${output}` };
}

/** A dummy hash with the scheme of wrapped hashes. @returns a text that does not parse if the scheme is another */
export function wrappedDummy(
  scheme: string,
  { outer, inner }: { outer(scheme: string): string; inner(scheme: string): PasswordHash | undefined },
): string {
  const [, parameters = '', innerScheme = ''] = /^\$argon2id\((m=\d+,t=\d+,p=\d+)\)(\$.+)$/.exec(scheme) ?? [];
  const hash = innerScheme === '' ? undefined : inner(innerScheme);
  return hash === undefined ? '' : wrappedText(hash, outer(`$argon2id$v=19$${parameters}`));
}
