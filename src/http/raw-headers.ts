/**
 * Every value of a request's header, in order; `name` in lower case. Node keeps the first of several Host and
 * Authorization headers silently, and its `headersDistinct` sorts all headers of a request to tell of one.
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const key = rawHeaders[index] ?? '';
    if (key.length === name.length && key.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
