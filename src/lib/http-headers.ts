/** The quality of a type in an Accept header. The most specific matching range decides (RFC 9110, section 12.5.1). */
function quality(accept: string, type: string): number {
  const [family = ''] = type.split('/');
  const ranges = new Map(
    accept.split(',').map((entry) => {
      const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [range, weight === undefined ? 1 : Number(weight.slice('q='.length))];
    }),
  );
  return ranges.get(type) ?? ranges.get(`${family}/*`) ?? ranges.get('*/*') ?? 0;
}

/** Whether an Accept header names `text/event-stream`, and prefers it at least as much as JSON. */
export function prefersEventStream(accept: string | undefined): boolean {
  if (accept === undefined || !/\btext\/event-stream\b/i.test(accept)) return false;
  const streamQuality = quality(accept, 'text/event-stream');
  return streamQuality > 0 && streamQuality >= quality(accept, 'application/json');
}

/** Whether an Accept-Encoding header names a content coding, with a weight other than 0 (RFC 9110, section 12.5.3). */
export function acceptsCoding(header: string | string[] | undefined, coding: 'gzip' | 'br'): boolean {
  const names = coding === 'gzip' ? ['gzip', 'x-gzip'] : [coding];
  const entries = [header ?? []].flat().join(',').toLowerCase().split(',');
  return entries.some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    return names.includes(name) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** Whether `If-Match` allows a change: it is absent, `*`, or has the tag by strong comparison (RFC 9110, section 13.1.1). */
export function allowsChange(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined) return true;
  return ifMatch.trim() === '*' || ifMatch.split(',').some((entry) => entry.trim() === tag);
}

/** Whether `If-None-Match` matches the tag: `*`, or any of its tags by weak comparison (RFC 9110, section 13.1.2). */
export function isUnchanged(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const withoutWeakPrefix = (text: string) => text.trim().replace(/^W\//, '');
  return (
    ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((entry) => withoutWeakPrefix(entry) === withoutWeakPrefix(tag))
  );
}

/**
 * All values of a request header, in order. `name` is in lower case. Node silently keeps only the first of several Host and
 * Authorization headers, and its `headersDistinct` processes all headers of the request.
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const key = rawHeaders[index] ?? '';
    if (key.length === name.length && key.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/** The maximum length of an Authorization header in characters. No token is as long. A longer header is refused unread. */
export const maxCredentials = 512;

/** Whether a content type is JSON in UTF-8. Linear: no two parts of the pattern can match the same spaces. */
export function isPlainJsonType(contentType: string): boolean {
  return /^application\/json\s*(?:;\s*(?:charset="?utf-8"?\s*(?:;\s*)?)?)?$/i.test(contentType);
}
