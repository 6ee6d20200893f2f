import { escapeHtml } from '../../lib/html.js';
import { type JsonObject, objectAt } from './json-schema.js';
import { markdown, table } from './reference-html.js';

/** The schemas of the document, each with the id to which `typeOf` links. */
export function schemaList(document: JsonObject): string[] {
  const schemas = objectAt(objectAt(document, 'components'), 'schemas');
  return Object.entries(schemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => {
      const id = escapeHtml(name);
      return `<details class="schema" id="schema-${id}"><summary><h3><code>${id}</code></h3></summary><div>${schemaHtml(schema as JsonObject)}</div></details>`;
    });
}

function schemaHtml(schema: JsonObject): string {
  const description = schema.description === undefined ? '' : `<p>${markdown(schema.description)}</p>`;
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const rows = Object.entries(objectAt(schema, 'properties')).map(([name, member]) => {
    const { description: meaning } = { description: undefined, ...(member as JsonObject) };
    const mark = required.includes(name) ? ' <em>required</em>' : '';
    return `<tr><td><code>${escapeHtml(name)}</code>${mark}</td><td>${typeOf(member as JsonObject)}</td><td>${markdown(meaning)}</td></tr>`;
  });
  if (rows.length === 0) return `${description}<p>${typeOf(schema)}</p>`;
  return description + table(['Member', 'Type', 'Meaning'], rows);
}

/** A type in a few words, as HTML. A component becomes a link to it. */
export function typeOf(schema: JsonObject): string {
  if (typeof schema.$ref === 'string') {
    const name = escapeHtml(schema.$ref.split('/').at(-1) ?? '');
    return `<a href="#schema-${name}"><code>${name}</code></a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return (choices as JsonObject[]).map(typeOf).join(' or ');
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(' ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.type === 'array') return `list of ${typeOf(objectAt(schema, 'items'))}${limitsOf(schema)}`;
  const members = Object.entries(objectAt(schema, 'properties'));
  if (members.length > 0) {
    const parts = members.map(([name, member]) => `<code>${escapeHtml(name)}</code>: ${typeOf(member as JsonObject)}`);
    return `object of ${parts.join(', ')}`;
  }
  const type = [schema.type].flat().filter(Boolean).join(' or ') || 'any value';
  return `${escapeHtml(type)}${schema.format === undefined ? '' : ` (${escapeHtml(String(schema.format))})`}${limitsOf(schema)}`;
}

function limitsOf(schema: JsonObject): string {
  const range = (from: unknown, to: unknown, unit: string) =>
    from === undefined && to === undefined
      ? []
      : [`${from === undefined ? '' : `${String(from)} `}to ${String(to ?? '…')}${unit}`];
  const limits = [
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern === undefined ? [] : [`<code>${escapeHtml(String(schema.pattern))}</code>`]),
  ];
  return limits.length === 0 ? '' : `, ${limits.join(', ')}`;
}
