/**
 * @typedef {Record<string, Record<string, any>>} Components the schemas of the OpenAPI document
 * @typedef {{ components: Components, onReference: (name: string) => void }} Context
 */

/**
 * TypeScript types of named components of the OpenAPI document, with all components that they refer to.
 *
 * @param {Components} components
 * @param {readonly string[]} names
 * @param {ReadonlySet<string>} [elsewhere] components whose types another module has
 * @returns {string}
 */
export function wireTypes(components, names, elsewhere = new Set()) {
  const needed = new Set(names);
  const texts = new Map();
  // A Set grows while it is iterated, so this also reaches the components that are found on the way.
  for (const name of needed) {
    if (elsewhere.has(name)) continue;
    const schema = components[name];
    if (schema === undefined) throw new Error(`The document has no component ${name}.`);
    const type = objectType(schema, { components, onReference: (found) => needed.add(found) }, '', name);
    texts.set(name, `${commentOf(schema, '')}export type ${name} = ${type};\n`);
  }
  return [...texts.keys()]
    .sort()
    .map((name) => texts.get(name))
    .join('\n');
}

/**
 * The components of `names`, and all that they refer to.
 *
 * @param {Components} components
 * @param {readonly string[]} names
 */
export function reachedComponents(components, names) {
  const reached = new Set(names);
  for (const name of reached)
    objectType(components[name] ?? {}, { components, onReference: (found) => reached.add(found) }, '', name);
  return reached;
}

/**
 * The TypeScript type of a JSON Schema. A reference becomes the name of the component.
 *
 * @param {Record<string, any>} schema
 * @param {string} indent of the line that the type begins in
 */
export const schemaType = (schema, indent) => typeOf(schema, { components: {}, onReference: () => undefined }, indent);

/**
 * The type of a component. One that has all members of another component extends its type.
 *
 * @param {Record<string, any>} schema
 * @param {Context} context
 * @param {string} indent
 * @param {string} own the name of the component
 */
function objectType(schema, context, indent, own) {
  const base = baseOf(schema, context.components, own);
  if (base === undefined) return typeOf(schema, context, indent);
  context.onReference(base);
  const inherited = context.components[base]?.properties;
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !(name in inherited)));
  return Object.keys(properties).length === 0
    ? base
    : `${base} & ${typeOf({ ...schema, properties }, context, indent)}`;
}

/**
 * The component with the most members, all of which the schema has too. Of equal components, all but the first extend it.
 *
 * @param {Record<string, any>} schema
 * @param {Components} components
 * @param {string} own
 */
function baseOf(schema, components, own) {
  const membersOf = (/** @type {Record<string, any>} */ { properties = {}, required = [] }) =>
    Object.entries(properties).map(([name, member]) => JSON.stringify([name, required.includes(name), member]));
  const members = new Set(membersOf(schema));
  const found = Object.entries(components)
    .map(([name, component]) => ({ name, component, members: membersOf(component) }))
    .filter(({ name, component, members: others }) => {
      if (name === own || others.length < 4 || others.some((member) => !members.has(member))) return false;
      const isSmaller = others.length < members.size || name < own;
      return isSmaller && component.additionalProperties === schema.additionalProperties;
    })
    .sort((a, b) => b.members.length - a.members.length || (a.name < b.name ? -1 : 1));
  return found[0]?.name;
}

/**
 * @param {Record<string, any>} schema
 * @param {Context} context
 * @param {string} indent
 * @returns {string}
 */
function typeOf(schema, context, indent) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1);
    context.onReference(name);
    return name;
  }
  const all = schema.anyOf ?? schema.oneOf;
  if (all !== undefined)
    return [...new Set(all.map((/** @type {any} */ member) => typeOf(member, context, indent)))].join(' | ');
  if (schema.enum !== undefined) return schema.enum.map((/** @type {unknown} */ value) => literal(value)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  return [schema.type ?? 'unknown']
    .flat()
    .map((type) => plainType(type, schema, context, indent))
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
function plainType(type, schema, context, indent) {
  if (type === 'integer') return 'number';
  if (type === 'array') {
    const items = typeOf(schema.items ?? {}, context, indent);
    return `readonly ${items.includes(' ') ? `(${items})` : items}[]`;
  }
  if (type !== 'object') return type;
  const { properties, required = [] } = schema;
  if (properties === undefined) {
    const each = schema.additionalProperties;
    const value = typeof each === 'object' ? typeOf(each, context, indent) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const isRequired = required.includes(name);
    const memberType = typeOf(member, context, inner);
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
 * TypeScript types of operations of the OpenAPI document, by their ids: what a request has (`GetUserData`) and the body of its answer
 * (`GetUserResponse`). With the components that are named or that they refer to.
 *
 * @param {Record<string, any>} document
 * @param {ReadonlySet<string>} names of types
 * @returns {string}
 */
export function operationTypes({ components, paths }, names) {
  const needed = new Set([...names].filter((name) => name in components.schemas));
  /** @param {Record<string, any>} schema */
  const type = (schema, indent = '  ') =>
    typeOf(schema, { components: {}, onReference: (found) => needed.add(found) }, indent);
  const texts = Object.entries(paths).flatMap(([url, methods]) =>
    Object.values(methods).flatMap(({ operationId, parameters = [], requestBody, responses }) => {
      const name = operationId[0].toUpperCase() + operationId.slice(1);
      const all = parameters.map((/** @type {any} */ one) => components.parameters[one.$ref?.split('/').at(-1)] ?? one);
      const group = (/** @type {string} */ place) => parametersOf(all, place, type);
      const body = requestBody?.content['application/json']?.schema;
      return [
        ...(names.has(`${name}Data`)
          ? [
              `export type ${name}Data = {
  readonly url: ${literal(url)};${group('path')}${group('query')}
  readonly body${requestBody?.required ? '' : '?'}: ${body === undefined ? 'never' : type(body)};
};
`,
            ]
          : []),
        ...(names.has(`${name}Response`) ? [`export type ${name}Response = ${answersOf(responses, type)};\n`] : []),
      ];
    }),
  );
  return `${wireTypes(components.schemas, [...needed])}\n${texts.join('\n')}`;
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
