/** A copy of an OpenAPI document in which every reference is replaced by what it refers to. */
export function withoutReferences<Document extends object>(document: Document): Document {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value && typeof value.$ref === 'string') return resolve(lookUp(document, value.$ref));
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]));
  };
  return resolve(document) as Document;
}

function lookUp(document: object, reference: string): unknown {
  const path = reference.replace('#/', '').split('/');
  return path.reduce<unknown>((at, name) => Object(at)[name], document);
}
