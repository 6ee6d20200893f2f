import ts from 'typescript';
import { expect, test } from 'vitest';
import { dataTypes } from '../../../src/notifications/categories/data-types.js';

const typesOf = (schema: Record<string, unknown> | null) =>
  dataTypes([{ name: 'club.chess', title: { en: 'Chess */ club' }, data_schema: schema }]);

const libraries = new Map<string, ts.SourceFile | undefined>();
/** The types of the language, which are read once. */
function libraryOf(path: string, read: () => ts.SourceFile | undefined): ts.SourceFile | undefined {
  if (!libraries.has(path)) libraries.set(path, read());
  return libraries.get(path);
}

/** The faults that TypeScript finds in a program with the types. */
function faultsOf(schema: Record<string, unknown>, value: string): string[] {
  const name = 'data.ts';
  const source = `${typesOf(schema)}export const value: NotificationData['club.chess'] = ${value};`;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    lib: ['lib.es5.d.ts'],
    exactOptionalPropertyTypes: true,
  };
  const host = ts.createCompilerHost(options);
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.ES2022);
  const program = ts.createProgram([name], options, {
    ...host,
    getSourceFile: (path, ...more) => (path === name ? file : libraryOf(path, () => host.getSourceFile(path, ...more))),
  });
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, ' '),
  );
}

const schema = {
  type: 'object',
  required: ['sum', 'moves'],
  properties: {
    sum: { type: 'number' },
    'of game': { const: 'chess' },
    moves: { type: 'array', items: { $ref: '#/$defs/move' } },
    winner: { type: ['string', 'null'] },
    place: {
      anyOf: [{ type: 'string' }, { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] }],
    },
    level: { enum: ['low', 3, null] },
  },
  $defs: {
    move: { type: 'object', properties: { from: { type: 'string' }, to: { type: 'string' } }, required: ['from'] },
  },
};

test.each([
  `{ sum: 1, moves: [] }`,
  `{ sum: 1, moves: [{ from: 'e2' }, { from: 'e2', to: 'e4' }], winner: null, place: 'here', level: 3, 'of game': 'chess' }`,
  `{ sum: 1, moves: [], winner: 'Ada', place: { town: 'Madrid' }, level: 'low' }`,
])('data that the schema allows have the type: %s', (value) => {
  expect(faultsOf(schema, value)).toEqual([]);
});

test.each([
  `{ moves: [] }`,
  `{ sum: '1', moves: [] }`,
  `{ sum: 1, moves: [{ to: 'e4' }] }`,
  `{ sum: 1, moves: [], winner: 3 }`,
  `{ sum: 1, moves: [], place: {} }`,
  `{ sum: 1, moves: [], level: 'high' }`,
  `{ sum: 1, moves: [], 'of game': 'go' }`,
])('data that the schema refuses have not: %s', (value) => {
  expect(faultsOf(schema, value).length).toBeGreaterThan(0);
});

test('a category without a schema takes any object, and a title cannot end its comment', () => {
  expect(typesOf(null)).toContain(
    '  /** Chess *\\/ club */\n  readonly "club.chess": Readonly<Record<string, unknown>>;\n',
  );
});

test('arrays of unions and intersections keep their meaning', () => {
  const text = typesOf({
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: ['string', 'number'] } },
      lists: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      both: { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }] },
    },
  });
  expect(text).toContain('readonly list?: readonly (string | number)[] | undefined;');
  expect(text).toContain('readonly lists?: readonly (readonly string[])[] | undefined;');
  expect(text).toMatch(/readonly both\?: \{[^}]*a\?: string \| undefined;[^}]*\} & \{[^}]*b\?: string/);
});
