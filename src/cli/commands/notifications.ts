import { writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { Category, CategoryChanges, NamedCategoryInput } from '../../contract/category.js';
import type { Database } from '../../database/database.js';
import { problemBody } from '../../http/plugins/problems.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import type { Categories } from '../../notifications/categories/categories.js';
import { allCategories, completeCategory } from '../../notifications/categories/category.js';
import { schemaErrors } from '../../notifications/categories/data-schema.js';
import { dataTypes } from '../../notifications/categories/data-types.js';
import { type CategoryFiles, formErrors, readCategoryFiles } from '../support/category-files.js';
import { cliOrigin, openCategories, withDatabase } from '../support/dependencies.js';
import { CommandError, describeFailure } from '../support/failure.js';
import { type Io, printJson, printLine } from '../support/io.js';

/** Exit codes of `diff`, as of diff(1): something differs; the comparison failed. */
const exitDiffers = 1;
const exitTrouble = 2;

const pathArgument = [
  '<path>',
  'a JSON file with the array of all categories, or a folder with one file for each, such as billing.json',
] as const;

/** Registers `postern notifications` with its subcommands. */
export function notificationsCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  const notifications = program
    .command('notifications')
    .description('keep the categories of notifications as files, such as in git');
  notifications
    .command('diff')
    .description('show what `apply` would change')
    .argument(...pathArgument)
    .option('--json', 'print the names of what differs as JSON')
    .addHelpText(
      'after',
      '\nThe exit code is 0 if nothing differs, 1 if something does, and 2 if the comparison failed.\n\nExample:\n  postern notifications diff categories/',
    )
    .action(async (path: string, { json }: { json?: true }) => {
      try {
        if (await diff(io, path, json === true)) exitWith(exitDiffers);
      } catch (error) {
        printLine(io.stderr, describeFailure(error));
        exitWith(exitTrouble);
      }
    });
  notifications
    .command('apply')
    .description('replace all categories by those of the files: all of them or none')
    .argument(...pathArgument)
    .option('--dry-run', 'check everything and show what would change, but write nothing')
    .option('--json', 'print the names of what has changed as JSON')
    .addHelpText(
      'after',
      '\nCategories that the files do not have are deleted; a notification type that they do not have gets its defaults again.\nAll faults are shown, each with its file and path. The exit code is 1 if there are any.\n\nExample:\n  postern notifications apply --dry-run categories/',
    )
    .action((path: string, { dryRun, json }: { dryRun?: true; json?: true }) =>
      apply(io, path, { isDryRun: dryRun === true, json: json === true }),
    );
  notifications
    .command('types')
    .description('print TypeScript types for the `data` of notifications, from the schemas of the categories')
    .argument('[path]', 'as for `apply` (default: the categories of the database)')
    .option('--out <file>', 'write the types to a file')
    .addHelpText('after', '\nExample:\n  postern notifications types categories/ --out src/notification-data.ts')
    .action((path: string | undefined, { out }: { out?: string }) => types(io, path, out));
}

/** @returns whether something differs */
async function diff(io: Io, path: string, json: boolean): Promise<boolean> {
  const files = await readCategoryFiles(path);
  return withDatabase(io, async (database, config) => {
    const categories = await openCategories(io, database, config);
    try {
      const { changes, before, after } = await compare(database, categories, files, config.NOTIFICATION_TYPES);
      if (json) printJson(io.stdout, changes);
      else print(io, changes, before, after);
      return isChange(changes);
    } finally {
      await categories.stop();
    }
  });
}

async function apply(
  io: Io,
  path: string,
  { isDryRun, json }: { readonly isDryRun: boolean; readonly json: boolean },
): Promise<void> {
  const files = await readCategoryFiles(path);
  await withDatabase(io, async (database, config) => {
    const categories = await openCategories(io, database, config);
    try {
      const { changes, before, after } = await compare(database, categories, files, config.NOTIFICATION_TYPES);
      const done =
        isDryRun || !isChange(changes)
          ? changes
          : await replace(database, categories, files.inputs as readonly NamedCategoryInput[], false);
      if (json) return printJson(io.stdout, done);
      print(io, changes, before, after);
      if (isChange(changes)) printLine(io.stdout, isDryRun ? 'Nothing was written (dry run).' : 'Written.');
    } finally {
      await categories.stop();
    }
  });
}

async function types(io: Io, path: string | undefined, out: string | undefined): Promise<void> {
  const text = dataTypes(path === undefined ? await storedCategories(io) : await categoriesOf(path));
  if (out === undefined) io.stdout.write(text);
  else await writeFile(out, text);
}

/** The categories of files alone, without a database: their schemas are checked, and nothing that depends on settings. */
async function categoriesOf(path: string): Promise<Category[]> {
  const files = await readCategoryFiles(path);
  throwFaults(files, formErrors(files.inputs));
  const categories = [
    ...allCategories(
      files.inputs.map((input) => complete(input as NamedCategoryInput)),
      [],
    ).values(),
  ];
  const faults = categories.flatMap(({ data_schema: schema }, index) =>
    schema === null ? [] : schemaErrors(schema, `${index}.data_schema`),
  );
  throwFaults(files, faults);
  return categories;
}

async function storedCategories(io: Io): Promise<readonly Category[]> {
  return withDatabase(io, async (database, config) => {
    const categories = await openCategories(io, database, config);
    try {
      return (await categories.list()).categories;
    } finally {
      await categories.stop();
    }
  });
}

type ByName = ReadonlyMap<string, Category>;

/** Checks the files and finds what differs. @throws CommandError with all faults */
async function compare(
  database: Database,
  categories: Categories,
  files: CategoryFiles,
  notificationTypes: readonly string[],
): Promise<{ readonly changes: CategoryChanges; readonly before: ByName; readonly after: ByName }> {
  throwFaults(files, [...formErrors(files.inputs), ...(await categories.errorsOf(files.inputs))]);
  const inputs = files.inputs as readonly NamedCategoryInput[];
  const { categories: stored } = await categories.list();
  return {
    changes: await replace(database, categories, inputs, true),
    before: new Map(stored.map((category) => [category.name, category])),
    after: allCategories(inputs.map(complete), notificationTypes),
  };
}

const replace = async (
  database: Database,
  categories: Categories,
  inputs: readonly NamedCategoryInput[],
  isDryRun: boolean,
): Promise<CategoryChanges> => {
  const change = { origin: cliOrigin, isDryRun, isExpected: () => true };
  return (await database.transaction((tx) => categories.replace(tx, inputs, change))).changes;
};

const isChange = ({ created, changed, deleted }: CategoryChanges) =>
  created.length + changed.length + deleted.length > 0;

/** One line for each fault, with the file and the path in it. */
function throwFaults(files: CategoryFiles, errors: readonly FieldError[]): void {
  // The form and the meaning of a field may both be wrong: the first says more.
  const byPlace = new Map(errors.map((error) => [`${error.field} ${error.code}`, error]));
  if (byPlace.size === 0) return;
  const { errors: described } = problemBody(
    new Problem('validation_failed', { errors: [...byPlace.values()] }),
    '',
    'en',
  );
  throw new CommandError(
    [
      `${described.length === 1 ? 'There is 1 fault' : `There are ${described.length} faults`}, and nothing was written:`,
      ...described.map(({ field, message }) => `  ${files.placeOf(field)}: ${message}`),
    ].join('\n'),
  );
}

/** What differs, as a person reads it: the old value of each member after -, the new one after +. */
function print(io: Io, { created, changed, deleted }: CategoryChanges, before: ByName, after: ByName): void {
  if (created.length + changed.length + deleted.length === 0) printLine(io.stdout, 'Nothing differs.');
  for (const name of created) printLine(io.stdout, `+ ${name}`);
  for (const { name, members } of changed) {
    printLine(io.stdout, `~ ${name}`);
    for (const member of members) {
      const [old, next] = [before, after].map((all) => Reflect.get(all.get(name) ?? {}, member) as unknown);
      printMember(io, member, old, next);
    }
  }
  for (const name of deleted) printLine(io.stdout, `- ${name}`);
}

/** An object is shown by its members that differ, such as a text of one language. */
function printMember(io: Io, path: string, old: unknown, next: unknown): void {
  if (isRecord(old) && isRecord(next)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
      if (!isDeepStrictEqual(old[name], next[name])) printMember(io, `${path}.${name}`, old[name], next[name]);
    }
    return;
  }
  printLine(io.stdout, `    ${path}`);
  if (old !== undefined) printLine(io.stdout, `      - ${JSON.stringify(old)}`);
  if (next !== undefined) printLine(io.stdout, `      + ${JSON.stringify(next)}`);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const complete = (input: NamedCategoryInput) => completeCategory(input.name, input);
