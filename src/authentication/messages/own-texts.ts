import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../../lib/nearest.js';
import { textRules } from './kinds.js';
import { placeholder, splitSubject, type Texts } from './templates.js';

/** The operator's texts, and everything that is wrong with them: a sentence each, that begins with the file's name. */
export interface OwnTexts {
  readonly texts: Texts;
  readonly faults: readonly string[];
}

/** Bytes of a file. */
const longest = 16_384;

/**
 * Reads the files `<kind>.<language>.txt` of a folder, such as `sms.code.fr.txt`; what else lies there is left alone.
 * A file of a mail begins with `Subject: …` and an empty line.
 */
export async function readOwnTexts(folder: string | undefined): Promise<OwnTexts> {
  if (folder === undefined) return { texts: new Map(), faults: [] };
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.txt') && !name.startsWith('.')).sort();
  } catch (error) {
    return { texts: new Map(), faults: [`cannot be read: ${(error as NodeJS.ErrnoException).code}`] };
  }
  const texts = new Map<string, Map<string, string>>();
  const faults: string[] = [];
  for (const name of names) {
    const read = await readText(folder, name);
    if ('faults' in read) faults.push(...read.faults.map((fault) => `${name} ${fault}`));
    else texts.set(read.kind, (texts.get(read.kind) ?? new Map<string, string>()).set(read.language, read.text));
  }
  return { texts, faults };
}

async function readText(
  folder: string,
  name: string,
): Promise<{ kind: string; language: string; text: string } | { faults: string[] }> {
  const [, kind = '', language] = /^(\w+\.\w+)\.([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})\.txt$/.exec(name) ?? [];
  if (language === undefined) return { faults: ['is not named <kind>.<language>.txt, such as sms.code.fr.txt'] };
  if (!textRules.has(kind)) {
    return { faults: [`is of no kind that there is; the nearest is ${nearest(kind, [...textRules.keys()])}`] };
  }
  try {
    const bytes = await readFile(join(folder, name));
    if (bytes.length > longest) return { faults: [`is longer than ${longest} bytes`] };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n').trim();
    const faults = faultsOf(kind, text);
    return faults.length > 0 ? { faults } : { kind, language: language.toLowerCase(), text };
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8' : (error as NodeJS.ErrnoException).code;
    return { faults: [`cannot be read: ${reason}`] };
  }
}

/** What is wrong with a text of a kind that there is. */
function faultsOf(kind: string, text: string): string[] {
  const { placeholders, required } = textRules.get(kind) ?? { placeholders: {}, required: [] };
  const faults: string[] = [];
  if (text === '') faults.push('is empty');
  const parts = splitSubject(kind, text);
  if (text !== '' && parts === undefined) {
    faults.push('must begin with the line "Subject: …", then an empty line, then the text');
  }
  const used = [...text.matchAll(placeholder)].map(([, name = '']) => name);
  for (const name of new Set(used.filter((one) => !Object.hasOwn(placeholders, one)))) {
    faults.push(`holds {${name}}, which it cannot: it may hold ${namesOf(Object.keys(placeholders))}`);
  }
  const missing = required.filter((name) => parts?.text.includes(`{${name}}`) === false);
  if (missing.length > 0) faults.push(`lacks ${namesOf(missing)}`);
  if (/[{}]/.test(text.replaceAll(placeholder, ''))) faults.push('holds a brace that is no placeholder’s');
  return faults;
}

const namesOf = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ');
