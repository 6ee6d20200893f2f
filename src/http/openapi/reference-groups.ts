import { type JsonObject, objectAt } from './json-schema.js';

/** An operation of the document, with its place. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

interface Group {
  readonly title: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** The operations by their tags. The tag with the most, administration, has a group for each kind of resource. */
export function groupsOf(document: JsonObject): Group[] {
  const operations = Object.entries(objectAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(methods as JsonObject).map(([method, operation]) => ({
      method,
      path,
      operation: operation as JsonObject,
    })),
  );
  return (document.tags as readonly { name: string; description: string }[]).flatMap(({ name, description }) => {
    const ofTag = operations.filter(({ operation }) => (operation.tags as readonly string[]).includes(name));
    const resources = new Set(ofTag.map(({ path }) => /^\/admin\/v1\/([^/]+)/.exec(path)?.[1] ?? ''));
    if (name !== 'Administration') return [{ title: name, description, operations: ofTag }];
    return [...resources].sort().map((resource) => ({
      title: `${name}: ${resource}`,
      description: '',
      operations: ofTag.filter(({ path }) => path.split('/')[3] === resource),
    }));
  });
}
