/**
 * TypeScript types of named components of the OpenAPI document, with all components that they refer to.
 *
 * @param {Record<string, Record<string, any>>} components the schemas of the document
 * @param {readonly string[]} names
 * @returns {string}
 */
export function wireTypes(components, names) {
  const needed = new Set(names);
  const texts = new Map();
  // A Set grows while it is iterated, so this also reaches the components that are found on the way.
  for (const name of needed) {
    const schema = components[name];
    if (schema === undefined) throw new Error(`The document has no component ${name}.`);
    const type = typeOf(schema, (found) => needed.add(found));
    texts.set(name, `${commentOf(schema, '')}export type ${name} = ${type};\n`);
  }
  return [...texts.keys()]
    .sort()
    .map((name) => texts.get(name))
    .join('\n');
}

/**
 * The TypeScript type of a JSON Schema. A reference becomes the name of the component.
 *
 * @param {Record<string, any>} schema
 * @param {string} indent of the line that the type begins in
 */
export const schemaType = (schema, indent) => typeOf(schema, () => undefined, indent);

/**
 * @param {Record<string, any>} schema
 * @param {(name: string) => void} onReference
 * @param {string} [indent]
 * @returns {string}
 */
function typeOf(schema, onReference, indent = '') {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1);
    onReference(name);
    return name;
  }
  const all = schema.anyOf ?? schema.oneOf;
  if (all !== undefined)
    return [...new Set(all.map((/** @type {any} */ member) => typeOf(member, onReference, indent)))].join(' | ');
  if (schema.enum !== undefined) return schema.enum.map((/** @type {unknown} */ value) => literal(value)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  return [schema.type ?? 'unknown']
    .flat()
    .map((type) => plainType(type, schema, onReference, indent))
    .join(' | ');
}

/** @param {unknown} value */
const literal = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

/**
 * @param {string} type
 * @param {Record<string, any>} schema
 * @param {(name: string) => void} onReference
 * @param {string} indent
 * @returns {string}
 */
function plainType(type, schema, onReference, indent) {
  if (type === 'integer') return 'number';
  if (type === 'array') {
    const items = typeOf(schema.items ?? {}, onReference, indent);
    return `readonly ${items.includes(' ') ? `(${items})` : items}[]`;
  }
  if (type !== 'object') return type;
  const { properties, required = [] } = schema;
  if (properties === undefined) {
    const each = schema.additionalProperties;
    const value = typeof each === 'object' ? typeOf(each, onReference, indent) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const isRequired = required.includes(name);
    const memberType = typeOf(member, onReference, inner);
    return `${commentOf(member, inner)}${inner}readonly ${name}${isRequired ? '' : '?'}: ${memberType}${isRequired ? '' : ' | undefined'};\n`;
  });
  const object = `{\n${members.join('')}${indent}}`;
  return schema.additionalProperties === true ? `${object} & Readonly<Record<string, unknown>>` : object;
}

/**
 * @param {Record<string, any>} schema
 * @param {string} indent
 */
function commentOf({ description }, indent) {
  return description === undefined
    ? ''
    : `${indent}/** ${description.replaceAll('*/', '* /').replaceAll(/\s*\n\s*/g, ' ')} */\n`;
}

/**
 * TypeScript types of each operation of the OpenAPI document, by its id: what a request has (`GetUserData`) and the body of its
 * answer (`GetUserResponse`), with all components.
 *
 * @param {Record<string, any>} document
 * @returns {string}
 */
export function operationTypes({ components, paths }) {
  /** @param {Record<string, any>} schema */
  const type = (schema, indent = '  ') => schemaType(schema, indent);
  const texts = Object.entries(paths).flatMap(([url, methods]) =>
    Object.values(methods).map(({ operationId, parameters = [], requestBody, responses }) => {
      const name = operationId[0].toUpperCase() + operationId.slice(1);
      const all = parameters.map((/** @type {any} */ one) => components.parameters[one.$ref?.split('/').at(-1)] ?? one);
      const group = (/** @type {string} */ place) => parametersOf(all, place, type);
      const body = requestBody?.content['application/json']?.schema;
      return `export type ${name}Data = {
  readonly url: ${literal(url)};${group('path')}${group('query')}
  readonly body${requestBody?.required ? '' : '?'}: ${body === undefined ? 'never' : type(body)};
};
export type ${name}Response = ${answersOf(responses, type)};
`;
    }),
  );
  return `${wireTypes(components.schemas, Object.keys(components.schemas))}\n${texts.join('\n')}`;
}

/**
 * @param {readonly any[]} parameters
 * @param {string} place where they are: path or query
 * @param {(schema: any, indent: string) => string} type
 */
function parametersOf(parameters, place, type) {
  const found = parameters.filter((one) => one.in === place);
  const members = found.map((one) => {
    const isRequired = one.required === true;
    const comment = commentOf(one, '    ');
    return `${comment}    readonly ${one.name}${isRequired ? '' : '?'}: ${type(one.schema, '    ')}${isRequired ? '' : ' | undefined'};\n`;
  });
  if (members.length === 0) return '';
  return `\n  readonly ${place}${found.some(({ required }) => required) ? '' : '?'}: {\n${members.join('')}  };`;
}

/**
 * @param {Record<string, any>} responses
 * @param {(schema: any, indent: string) => string} type
 */
function answersOf(responses, type) {
  const answers = Object.entries(responses).flatMap(([status, { content }]) => {
    if (!status.startsWith('2')) return [];
    const schema = content?.['application/json']?.schema;
    return [schema === undefined ? (content === undefined ? 'void' : 'unknown') : type(schema, '')];
  });
  return [...new Set(answers)].join(' | ');
}
