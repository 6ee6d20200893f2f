/** What a client wants more: the more specific of the ranges that fit a type decides (RFC 9110, 12.5.1). */
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

/** Whether a stream of events is asked for by its name, and no less than JSON. */
export function prefersEventStream(accept: string | undefined): boolean {
  if (accept === undefined || !/\btext\/event-stream\b/i.test(accept)) return false;
  const wanted = quality(accept, 'text/event-stream');
  return wanted > 0 && wanted >= quality(accept, 'application/json');
}
