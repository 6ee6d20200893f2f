import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../lib/nearest.js';
import { textRules } from './kinds.js';
import { placeholder, splitSubject, type TemplateTexts } from './templates.js';

/** The operator's templates, and all their errors. Each error starts with the name of the file. */
export interface CustomTemplates {
  readonly texts: TemplateTexts;
  readonly errors: readonly string[];
}

/** The maximum size of a file in bytes. */
const maxSize = 16_384;

/**
 * Reads the files `<kind>.<language>.txt` of a folder, such as `sms.code.fr.txt`. Ignores files with another extension and
 * hidden files. The template of a mail starts with the line `Subject: …` and an empty line.
 */
export async function readCustomTemplates(folder: string | undefined): Promise<CustomTemplates> {
  if (folder === undefined) return { texts: new Map(), errors: [] };
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.txt') && !name.startsWith('.')).sort();
  } catch (error) {
    return { texts: new Map(), errors: [`cannot be read: ${(error as NodeJS.ErrnoException).code}`] };
  }
  const texts = new Map<string, Map<string, string>>();
  const errors: string[] = [];
  for (const name of names) {
    const read = await readText(folder, name);
    if ('errors' in read) errors.push(...read.errors.map((error) => `${name} ${error}`));
    else texts.set(read.kind, (texts.get(read.kind) ?? new Map<string, string>()).set(read.language, read.text));
  }
  return { texts, errors };
}

async function readText(
  folder: string,
  name: string,
): Promise<{ kind: string; language: string; text: string } | { errors: string[] }> {
  const [, kind = '', language] = /^(\w+\.\w+)\.([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})\.txt$/.exec(name) ?? [];
  if (language === undefined) return { errors: ['is not named <kind>.<language>.txt, such as sms.code.fr.txt'] };
  if (!textRules.has(kind)) {
    return { errors: [`has an unknown kind; the nearest is ${nearest(kind, [...textRules.keys()])}`] };
  }
  try {
    const bytes = await readFile(join(folder, name));
    if (bytes.length > maxSize) return { errors: [`is longer than ${maxSize} bytes`] };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n').trim();
    const errors = errorsOf(kind, text);
    return errors.length > 0 ? { errors } : { kind, language: language.toLowerCase(), text };
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8' : (error as NodeJS.ErrnoException).code;
    return { errors: [`cannot be read: ${reason}`] };
  }
}

/** The errors of a template of a known kind. */
function errorsOf(kind: string, text: string): string[] {
  const { placeholders, required } = textRules.get(kind) ?? { placeholders: {}, required: [] };
  const errors: string[] = [];
  if (text === '') errors.push('is empty');
  const parts = splitSubject(kind, text);
  if (text !== '' && parts === undefined) {
    errors.push('must start with the line "Subject: …", then an empty line, then the text');
  }
  const used = [...text.matchAll(placeholder)].map(([, name = '']) => name);
  for (const name of new Set(used.filter((name) => !Object.hasOwn(placeholders, name)))) {
    errors.push(`contains {${name}}, which is not allowed; allowed are ${namesOf(Object.keys(placeholders))}`);
  }
  const missing = required.filter((name) => parts?.text.includes(`{${name}}`) === false);
  if (missing.length > 0) errors.push(`lacks ${namesOf(missing)}`);
  if (/[{}]/.test(text.replaceAll(placeholder, ''))) errors.push('contains a brace that is not part of a placeholder');
  return errors;
}

const namesOf = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ');
