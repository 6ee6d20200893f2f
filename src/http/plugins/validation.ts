import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import type { FastifySchemaValidationError, FastifyValidationResult } from 'fastify/types/schema.js';
import type { FieldError } from '../../lib/problem.js';
import type { App } from '../requests/route.js';
import { maxReportedErrors, unknownName, unknownOf } from './known-names.js';

/**
 * Validates bodies with Ajv: strict types, no coercion, no defaults, all errors at once. Reporting all errors is safe
 * because bodies are small and every schema limits its arrays and strings. `list-query.ts` parses query strings and
 * reports more exact errors (decision 31).
 */
export function validationPlugin(app: App): void {
  const ajv = createAjv();
  app.setValidatorCompiler<object>(({ schema, httpPart }) =>
    httpPart === 'body' ? compiledAtFirstUse(() => validatorOf(schema, ajv)) : () => true,
  );
  app.setSchemaErrorFormatter((errors) => Object.assign(new Error('validation'), { validation: errors }));
}

/** By schema. The servers of a process share them: to compile the schema of a body takes longer than most requests. */
const validators = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: object, ajv: Ajv): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  return validate;
}

/**
 * Compiles a schema when it is first used. Most processes never use most schemas, and compiling all of them takes a
 * fifth of the start-up time.
 */
function compiledAtFirstUse(compile: () => ValidateFunction): FastifyValidationResult {
  let compiled: ValidateFunction | undefined;
  const validate: FastifyValidationResult = (value) => {
    compiled ??= compile();
    const isValid = compiled(value);
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
}

/** Validates a value as `validationPlugin` validates a body, but outside a request. */
export function createValidator(schema: object): ValidateFunction {
  return createAjv().compile(schema);
}

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
    strict: false,
    validateFormats: false,
    allowUnionTypes: true,
  });
  // Ajv's own keyword would report each of a million unknown members, and does not suggest the right name.
  ajv.removeKeyword('additionalProperties');
  return ajv.addKeyword({
    keyword: 'additionalProperties',
    type: 'object',
    errors: true,
    compile: (allowed: unknown, { properties }) =>
      allowed === false ? refuseUnknown(Object.keys(properties ?? {})) : () => true,
  });
}

/** Reports the members that a schema does not name. */
function refuseUnknown(knownNames: readonly string[]): SchemaValidateFunction {
  const names = new Set(knownNames);
  const validate: SchemaValidateFunction = (value: object) => {
    const isKnown = Object.keys(value).every((name) => names.has(name));
    if (isKnown) return true;
    const unknown = unknownOf(Object.keys(value), knownNames);
    validate.errors = unknown.map((name) => ({ keyword: 'additionalProperties', params: { name, known: knownNames } }));
    return false;
  };
  return validate;
}

/** Converts Ajv's errors to field errors. A path such as `/identity/type` becomes `identity.type`. */
export function validationErrors(
  schemaErrors: readonly FastifySchemaValidationError[] | readonly ErrorObject[],
): FieldError[] {
  // A union reports errors of each branch for the same field: keep the first.
  const errors = new Map<string | undefined, FieldError>();
  for (const error of schemaErrors) {
    // `if` repeats the errors of the branch that applied.
    if (error.keyword === 'if') continue;
    const fieldError = fieldErrorOf(error);
    // A value of a wrong type also fails `enum`, and the list of choices is more useful.
    if (!errors.has(fieldError.field) || error.keyword === 'enum') errors.set(fieldError.field, fieldError);
    if (errors.size === maxReportedErrors) break;
  }
  return [...errors.values()];
}

function fieldErrorOf({
  keyword,
  instancePath,
  schemaPath,
  params,
}: FastifySchemaValidationError | ErrorObject): FieldError {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const fieldAt = (...more: string[]): { field?: string } => {
    const field = [...path, ...more].join('.');
    return field === '' ? {} : { field };
  };
  const limit = Number(params.limit);
  switch (keyword) {
    case 'required':
      return {
        ...fieldAt(String(params.missingProperty)),
        code: 'required',
        // Only the schema of step 2 (`secretRequestOf`) requires a PIN in an `else` branch.
        ...(params.missingProperty === 'pin' && schemaPath === '#/else/required' && { hint: 'pin_policy' }),
      };
    case 'additionalProperties':
      return unknownName('unknown_member', String(params.name), [params.known].flat().map(String), path);
    case 'type':
      return { ...fieldAt(), code: 'invalid_type', params: { expected: [params.type].flat().join(', ') } };
    case 'enum':
      return {
        ...fieldAt(),
        code: 'invalid_choice',
        params: { allowed: [params.allowedValues].flat().map(String).join(', ') },
      };
    case 'maxLength':
      return { ...fieldAt(), code: 'too_long', params: { max: limit } };
    case 'minLength':
      return limit === 1
        ? { ...fieldAt(), code: 'required' }
        : { ...fieldAt(), code: 'too_short', params: { min: limit } };
    case 'minimum':
      return { ...fieldAt(), code: 'too_small', params: { min: limit } };
    case 'maximum':
      return { ...fieldAt(), code: 'too_large', params: { max: limit } };
    case 'maxItems':
      return { ...fieldAt(), code: 'too_many_items', params: { max: limit } };
    case 'minItems':
      return { ...fieldAt(), code: 'too_few_items', params: { min: limit } };
    case 'uniqueItems':
      return { ...fieldAt(), code: 'duplicate_items' };
    case 'not':
      // The schemas use `not` only for reserved ids.
      return { ...fieldAt(), code: 'reserved_id' };
    case 'anyOf':
    case 'oneOf':
      // This error repeats the errors of the branches.
      return { ...fieldAt(), code: 'invalid_format' };
    default:
      return { ...fieldAt(), code: path.at(-1) === 'pin' ? 'invalid_pin' : 'invalid_format' };
  }
}
