import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import { isPlainJsonType } from '../../lib/http-headers.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import type { App } from '../requests/route.js';
import { inexactParts } from './exact-json.js';

const maxDepth = 32;
/** The members with the operator's own data. */
const exactMembers = ['metadata', 'claims'];
/** The number of errors that a refusal lists. */
const maxReported = 20;

/**
 * Reads JSON bodies strictly: UTF-8, one JSON text, at most 32 levels deep, no NUL and no lone surrogate in any string. An
 * empty body counts as no body, with or without a content type. `__proto__` and `constructor` keys are dropped. The operator's
 * own data (`metadata`, `claims`) comes back equal, or the request is refused: see `inexactParts`.
 */
export function jsonBodyPlugin(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
    parseJsonBody(request, body),
  );
  // This hook also runs for routes without a body, because a compressed body must not be accepted silently.
  app.addHook('onRequest', (request, _reply, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') throw new Problem('unsupported_media_type');
    done();
  });
}

/** Parses the body of a request. @throws Problem `unsupported_media_type`, `malformed_json`, `validation_failed` */
export function parseJsonBody(request: FastifyRequest, body: Buffer): unknown {
  if (!isPlainJsonType(request.headers['content-type'] ?? '')) throw new Problem('unsupported_media_type');
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new Problem('malformed_json');
  const text = body.toString('utf8');
  if (request.routeOptions.config.keepRawBody === true) request.rawBody = text;
  return parseJson(text);
}

/** @throws Problem `malformed_json` */
export function parseJson(text: string): unknown {
  // The parser would skip a byte order mark; RFC 8259, 8.1, does not allow one.
  if (text.charCodeAt(0) === 0xfeff || depth(text) > maxDepth) throw new Problem('malformed_json');
  let value: unknown;
  try {
    value = secureJson.parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
  } catch (error) {
    throw new Problem('malformed_json', { cause: error });
  }
  // JSON forbids raw control characters and the text is valid UTF-8, so only an escape can produce NUL or a lone surrogate.
  const hasEscapes = text.includes('\\u');
  if (hasEscapes && /\\u(?:0000|d[89a-f])/i.test(text)) throwIfErrors(badStrings(value));
  // A name may contain escapes (`\u006d`). The pattern is slow, so it is used only if there are any.
  if (exactMembers.some((name) => text.includes(`"${name}"`)) || (hasEscapes && /"[^"]*\\u[^"]*"\s*:/.test(text)))
    throwIfErrors(inexactParts(text, exactMembers).slice(0, maxReported));
  return value;
}

/** The depth of a JSON text. For any other text the number has no meaning: the parser refuses that text. */
function depth(text: string): number {
  let level = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === 0x22) {
      index = endOfString(text, index);
    } else if (char === 0x7b || char === 0x5b) {
      level += 1;
      if (level > deepest) deepest = level;
    } else if (char === 0x7d || char === 0x5d) {
      level -= 1;
    }
  }
  return deepest;
}

/** The index of the closing quotation mark of the string at `start`: the first one that is not escaped. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The errors of the first strings that are not allowed, each field once. */
function badStrings(value: unknown, path: readonly string[] = [], found: FieldError[] = []): FieldError[] {
  if (found.length === maxReported) return found;
  if (typeof value === 'string') {
    if (!isAllowed(value)) found.push(badString(path));
    return found;
  }
  if (typeof value !== 'object' || value === null) return found;
  const members = Object.entries(value);
  const named = members.filter(([name]) => isAllowed(name));
  if (named.length < members.length) found.push(badString(path));
  for (const [name, member] of named) badStrings(member, [...path, name], found);
  return found;
}

/** A lone surrogate does not survive a round trip through UTF-8. */
const isAllowed = (text: string) => Buffer.from(text, 'utf8').toString('utf8') === text && !text.includes('\0');

const badString = (path: readonly string[]): FieldError => ({
  ...(path.length > 0 && { field: path.join('.') }),
  code: 'invalid_characters',
});
