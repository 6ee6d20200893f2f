/** A choice in the body of an operation. */
export interface EnumOfBody {
  readonly method: string;
  /** The path, with an id for each parameter. */
  readonly path: string;
  /** Its path, such as `identity.type`. `0` is an item of an array. */
  readonly field: string;
  readonly choices: readonly unknown[];
}

interface Schema {
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

const someId = '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11';

/** Every choice that an OpenAPI document lets clients send in a JSON body. */
export function pathsOfEnums(document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}): EnumOfBody[] {
  return Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([name, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema ?? {};
      const path = template.replaceAll(/\{\w+\}/g, someId);
      return enumsOf(schema).map(([field, choices]) => ({ method: name.toUpperCase(), path, field, choices }));
    }),
  );
}

function enumsOf(schema: Schema, at: readonly string[] = []): (readonly [string, readonly unknown[]])[] {
  if (schema.enum !== undefined) return [[at.join('.'), schema.enum]];
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => enumsOf(member, [...at, name]));
  return schema.items === undefined ? members : [...members, ...enumsOf(schema.items, [...at, '0'])];
}
