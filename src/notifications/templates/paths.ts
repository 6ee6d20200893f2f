import { isJsonObject } from '../../lib/json-object.js';
import { nearest } from '../../lib/nearest.js';
import { maxFaults, type Path, type TemplateFault, type TemplateNode } from './parse.js';

/** The form of a value: anything, a value without members, an object with these members, or a list. */
export type Shape = 'any' | 'scalar' | { readonly members: ReadonlyMap<string, Shape> } | { readonly items: Shape };

/** The values that every template can show. @param data what is known of `data` */
export const rootShape = (data: Shape): Shape => ({
  members: new Map<string, Shape>([
    ['actor', 'scalar'],
    ['description', 'scalar'],
    ['url', 'scalar'],
    ['user', { members: new Map([['name', 'scalar' as const]]) }],
    ['app', 'scalar'],
    ['data', data],
  ]),
});

/** Keywords that may add members that `properties` does not name. */
const openKeywords = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'];

/**
 * The form of a value by its JSON Schema, as far as it can be read easily. Members that `properties` does not name count as absent.
 * @param schema undefined: any form
 */
export function shapeOf(schema: unknown): Shape {
  if (!isJsonObject(schema) || openKeywords.some((keyword) => keyword in schema)) return 'any';
  const { type, properties, items, additionalProperties } = schema;
  if (isJsonObject(properties) && (type === undefined || type === 'object')) {
    if (isJsonObject(additionalProperties)) return 'any';
    return { members: new Map(Object.entries(properties).map(([name, member]) => [name, shapeOf(member)])) };
  }
  if (type === 'array' && isJsonObject(items)) return { items: shapeOf(items) };
  return ['string', 'number', 'integer', 'boolean', 'null'].includes(String(type)) ? 'scalar' : 'any';
}

/** The paths of a template that cannot exist. @param root the values that the template can show */
export function pathFaults(nodes: readonly TemplateNode[], root: Shape): TemplateFault[] {
  const faults: TemplateFault[] = [];
  const check = (path: Path, position: number, scopes: readonly Shape[]): Shape => {
    // A limit, because each wrong path is compared with all right ones.
    if (faults.length >= maxFaults) return 'any';
    const found = find(path, scopes);
    if ('shape' in found) return found.shape;
    const reason = `there is no ${path.join('.').slice(0, 60)}`;
    faults.push({ position, reason, ...(found.suggestion !== undefined && { suggestion: found.suggestion }) });
    return 'any';
  };
  function visit(children: readonly TemplateNode[], scopes: readonly Shape[]): void {
    for (const node of children) {
      if (node.kind === 'text') continue;
      const shape = check(node.path, node.position, scopes);
      if (node.kind === 'value') {
        const { formatter } = node;
        if (formatter?.name === 'currency' && 'path' in formatter.code)
          check(formatter.code.path, node.position, scopes);
      } else {
        const item = typeof shape === 'object' && 'items' in shape ? shape.items : shape;
        visit(node.children, node.isInverted ? scopes : [...scopes, item]);
      }
    }
  }
  visit(nodes, [root]);
  return faults;
}

type Found = { readonly shape: Shape } | { readonly suggestion: string | undefined };

function find(path: Path, scopes: readonly Shape[]): Found {
  const [first, ...rest] = path;
  if (first === undefined) return { shape: scopes.at(-1) ?? 'any' };
  const scope = scopes.findLast((each) => each === 'any' || memberOf(each, first) !== undefined);
  if (scope === undefined) {
    const names = scopes.flatMap((each) =>
      typeof each === 'object' && 'members' in each ? [...each.members.keys()] : [],
    );
    return { suggestion: nearest(first, names) };
  }
  let shape: Shape = scope === 'any' ? 'any' : (memberOf(scope, first) ?? 'any');
  for (const [index, name] of rest.entries()) {
    const member = memberOf(shape, name);
    if (member === undefined) {
      const before = path.slice(0, index + 1).join('.');
      const names = typeof shape === 'object' && 'members' in shape ? [...shape.members.keys()] : [];
      const suggestion = nearest(name, names);
      return { suggestion: suggestion === undefined ? before : `${before}.${suggestion}` };
    }
    shape = member;
  }
  return { shape };
}

function memberOf(shape: Shape, name: string): Shape | undefined {
  if (shape === 'any') return 'any';
  if (shape === 'scalar') return undefined;
  if ('items' in shape) return /^\d+$/.test(name) ? shape.items : undefined;
  return shape.members.get(name);
}
