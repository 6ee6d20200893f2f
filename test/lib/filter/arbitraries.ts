import fc from 'fast-check';
import { type FilterClause, type FilterFields, kinds, operatorsOf } from '../../../src/lib/filter/fields.js';

/** At least one field of every kind. `make` is a string without `like`. */
export const fields: FilterFields = {
  id: { kind: 'id' },
  actor: { kind: 'string', like: true },
  make: { kind: 'string' },
  type: { kind: 'enum', values: ['payment', 'pool', 'request'] },
  key: { kind: 'key' },
  amount: { kind: 'number' },
  sequence: { kind: 'integer' },
  created_at: { kind: 'time' },
};

/** Generators of canonical values, by the name of the field. */
export type ValueGenerators = Readonly<Record<string, fc.Arbitrary<string>>>;

const special = fc.string({ unit: fc.constantFrom(...'aB%_\\,|:;[] éÉσΣ'), maxLength: 6 });
const text = fc.oneof(
  special,
  fc.string({ unit: 'grapheme', maxLength: 8 }).filter((value) => !value.includes('\0')),
);

export const valueGenerators: ValueGenerators = {
  id: fc.uuid(),
  actor: text,
  make: text,
  type: fc.constantFrom('payment', 'pool', 'request'),
  key: text.filter((value) => value !== ''),
  amount: fc
    .tuple(fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }), fc.integer({ min: -20, max: 20 }))
    .map(([digits, exponent]) => String(Number(`${digits}e${exponent}`))),
  sequence: fc.maxSafeInteger().map(String),
  created_at: fc
    .tuple(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), fc.nat(999_999))
    .map(([date, microseconds]) => `${date.toISOString().slice(0, 19)}.${String(microseconds).padStart(6, '0')}Z`),
};

/**
 * Clauses as the parser returns them. It returns `in` as `eq`, so no clause has the operator `in`, and `eq` can have several
 * values in every field. `neq` can have several only if a colon separates the values of the field.
 */
export function clauses(generators: ValueGenerators): fc.Arbitrary<FilterClause> {
  const perField = Object.entries(fields).flatMap(([name, field]) => {
    const value = generators[name] ?? fc.constant('');
    return operatorsOf(field)
      .filter((operator) => operator !== 'in')
      .map((operator) => {
        const maxLength = operator === 'eq' || (operator === 'neq' && kinds[field.kind].separatedByColon) ? 4 : 1;
        return fc
          .array(value, { minLength: 1, maxLength })
          .map((chosen) => ({ name, field, operator, values: chosen }));
      });
  });
  return fc.oneof(...perField);
}
