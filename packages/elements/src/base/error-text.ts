import type { PosternError } from '@postern/client';
import type { FormTexts } from './form-texts.js';
import { withLater } from './texts.js';

/** The texts of errors: those of the page and the language, else English. */
export async function errorTexts(words: FormTexts): Promise<Readonly<Record<string, string>>> {
  // An error must be explained even if the file cannot be loaded.
  const loaded = await import('./error-texts.js').catch(() => undefined);
  return withLater(loaded?.english ?? {}, words);
}

/** The text that a user sees for an error, never a sentence of the service, which may be in another language. */
export async function textOf(error: PosternError, words: FormTexts): Promise<string> {
  if (error.kind === 'network') return words.offline;
  if (error.kind === 'cancelled' || error.kind === 'unsupported') return words[error.kind];
  if (error.kind !== 'problem') return words.failed;
  const texts = await errorTexts(words);
  const [field] = error.errors;
  return texts[`field_${field?.code}`] ?? texts[`problem_${error.code}`] ?? words.failed;
}
