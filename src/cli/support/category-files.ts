import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { maxCategories, NamedCategoryInput } from '../../contract/category.js';
import { parseJson } from '../../http/plugins/json-body.js';
import { closed } from '../../http/plugins/known-names.js';
import { createValidator, validationErrors } from '../../http/plugins/validation.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { FieldError } from '../../lib/problem.js';
import { CommandError } from './failure.js';

/** The categories of a file or of a folder, as they were read: their form may be wrong. */
export interface CategoryFiles {
  readonly inputs: readonly unknown[];
  /** Where a fault is, for people: the file, and the path in it. */
  placeOf(field: string | undefined): string;
}

/**
 * Reads categories from a file with an array of them, or from a folder with a file for each, such as `billing.json`.
 * @throws CommandError if something cannot be read, with all files that are no JSON
 */
export async function readCategoryFiles(path: string): Promise<CategoryFiles> {
  const isFolder = (await stat(path)).isDirectory();
  return isFolder ? readFolder(path) : readSet(path);
}

async function readSet(path: string): Promise<CategoryFiles> {
  const inputs = jsonOf(await readFile(path, 'utf8'), path);
  if (inputs instanceof CommandError) throw inputs;
  if (!Array.isArray(inputs)) throw new CommandError(`${path} must hold an array of categories.`);
  return {
    inputs,
    placeOf(field) {
      const [, index, rest] = /^(\d+)(.*)$/.exec(field ?? '') ?? [];
      if (index === undefined) return path;
      const { name } = isJsonObject(inputs[Number(index)]) ? (inputs[Number(index)] as { name?: unknown }) : {};
      return `${path}: ${typeof name === 'string' ? `${name} (${index})` : index}${rest}`;
    },
  };
}

async function readFolder(path: string): Promise<CategoryFiles> {
  const files = (await readdir(path)).filter((name) => name.endsWith('.json')).sort();
  if (files.length === 0) throw new CommandError(`${path} has no file that ends in .json.`);
  const read = await Promise.all(
    files.map(async (file) => {
      const place = join(path, file);
      const input = jsonOf(await readFile(place, 'utf8'), place);
      if (input instanceof CommandError) return input;
      const name = basename(file, '.json');
      // Without a name in the file, its own name counts. With another one, the category would be found in two places.
      if (isJsonObject(input) && input.name !== undefined && input.name !== name)
        return new CommandError(`${place}: the name must be ${name}, as the file says, or absent.`);
      return isJsonObject(input) ? { ...input, name } : input;
    }),
  );
  const wrong = read.filter((each) => each instanceof CommandError);
  if (wrong.length > 0) throw new CommandError(wrong.map(({ message }) => message).join('\n'));
  return {
    inputs: read,
    placeOf(field) {
      const [, index, rest] = /^(\d+)\.?(.*)$/.exec(field ?? '') ?? [];
      const file = files[Number(index)];
      if (index === undefined || file === undefined) return path;
      return rest === '' ? join(path, file) : `${join(path, file)}: ${rest}`;
    },
  };
}

/** The value of a file, or why it has none. */
function jsonOf(text: string, place: string): unknown {
  try {
    return parseJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const { cause } = error as Error;
    return new CommandError(
      `${place} is not JSON: ${cause instanceof Error ? cause.message : 'a value is not allowed'}`,
    );
  }
}

/** What is wrong with the form of the categories. Unknown members are faults. */
export function formErrors(inputs: readonly unknown[]): FieldError[] {
  const validate = createValidator({ type: 'array', items: closed(NamedCategoryInput), maxItems: maxCategories });
  return validate(inputs) ? [] : validationErrors(validate.errors ?? []);
}
