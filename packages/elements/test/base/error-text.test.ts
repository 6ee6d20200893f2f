import { expect, test } from 'vitest';
import { fieldErrors } from '../../../../src/contract/errors/fields.js';
import { errors } from '../../../../src/contract/errors/problems.js';
import { type PosternError, ProblemError } from '../../../client/src/errors.js';
import { spanish as spanishErrors } from '../../src/base/error-es.js';
import { textOf } from '../../src/base/error-text.js';
import { english as englishErrors } from '../../src/base/error-texts.js';
import { showFieldErrors } from '../../src/base/errors.js';
import type { Form } from '../../src/base/form.js';
import { spanish } from '../../src/base/form-es.js';
import { english } from '../../src/base/form-texts.js';

const sentence = 'A sentence of the service.';
const problemOf = (code: string, fieldCode?: string) => {
  const fields = fieldCode === undefined ? [] : [{ field: 'password', code: fieldCode, message: sentence }];
  const body = { type: `urn:postern:problem:${code}`, title: sentence, errors: fields };
  return new ProblemError(400, body, null) as PosternError & ProblemError;
};

test.each([
  ['English', english, { ...englishErrors, ...english }],
  ['Spanish', spanish, { ...spanishErrors, ...spanish }],
])('every problem and every field error has a text in %s, which is none of the service', async (_, words, texts) => {
  const own = new Set<string>(Object.values(texts));
  for (const code of [...Object.keys(errors), 'of_a_later_release']) {
    const text = await textOf(problemOf(code), words);
    expect([code, text, own.has(text)]).toEqual([code, text, true]);
  }
  for (const code of [...Object.keys(fieldErrors), 'of_a_later_release']) {
    const problem = problemOf('validation_failed', code);
    const text = await textOf(problem, words);
    expect([code, text, own.has(text)]).toEqual([code, text, true]);
    // The same at the field of a form.
    let shown: Readonly<Record<string, string>> = {};
    const form: Partial<Form> = {
      showFieldErrors(found) {
        shown = found;
        return true;
      },
    };
    await showFieldErrors(form as Form, problem.errors, words);
    expect([code, own.has(shown.password ?? '')]).toEqual([code, true]);
  }
});

test('every text of an error belongs to a code of the contract', () => {
  const codes = new Set([
    ...Object.keys(errors).map((code) => `problem_${code}`),
    ...Object.keys(fieldErrors).map((code) => `field_${code}`),
  ]);
  expect(Object.keys(englishErrors).filter((key) => !codes.has(key))).toEqual([]);
});
