import { isJsonObject } from '../../lib/json-object.js';
import { type JsonObject, objectAt } from './json-schema.js';

/** Adds an example to every JSON body and response without one, composed of the examples in its schema. */
export function addExamples(document: JsonObject): void {
  const schemas = objectAt(objectAt(document, 'components'), 'schemas');
  for (const path of Object.values(objectAt(document, 'paths')).filter(isJsonObject)) {
    for (const operation of Object.values(path).filter(isJsonObject)) {
      const bodies = [objectAt(operation, 'requestBody'), ...Object.values(objectAt(operation, 'responses'))];
      for (const body of bodies.filter(isJsonObject)) {
        for (const [type, media] of Object.entries(objectAt(body, 'content'))) {
          if (/json$/.test(type) && isJsonObject(media)) addExample(media, schemas);
        }
      }
    }
  }
}

function addExample(media: JsonObject, schemas: JsonObject): void {
  if (media.example !== undefined || media.examples !== undefined || !isJsonObject(media.schema)) return;
  media.example = exampleOf(media.schema, schemas);
}

const samples: Readonly<Record<string, unknown>> = {
  uuid: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
  'date-time': '2017-10-19T17:02:03.181879Z',
  uri: 'https://example.com/',
};
const sampleOfType: Readonly<Record<string, unknown>> = { boolean: true, integer: 1, number: 1, string: 'text' };

function exampleOf(schema: JsonObject, schemas: JsonObject): unknown {
  if (typeof schema.$ref === 'string') {
    return exampleOf(objectAt(schemas, schema.$ref.replace('#/components/schemas/', '')), schemas);
  }
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const [branch] = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches) => branches ?? []);
  if (isJsonObject(branch)) return exampleOf(branch, schemas);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'array') return isJsonObject(schema.items) ? [exampleOf(schema.items, schemas)] : [];
  if (type === 'object') {
    const members = Object.entries(objectAt(schema, 'properties')).filter(([, member]) => isJsonObject(member));
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member as JsonObject, schemas)]));
  }
  return samples[String(schema.format)] ?? sampleOfType[String(type)] ?? null;
}
