import { dictionary } from '@zxcvbn-ts/language-common';
import { describe, expect, it } from 'vitest';
import { passwordErrors } from '../../src/credentials/password-policy.js';

const codesOf = async (password: string) =>
  (await passwordErrors(password, { passwordMin: 8 })).map(({ code }) => code);

describe('passwordErrors', () => {
  it.each([
    ...['correct horse battery', 'a battery of horses', 'tr0ub4dor&3xyz', 'zebra-quartz-91'],
    ...['пароль-надёжный', 'kx7#mQ2v', 'iloveyourdog4ever'],
  ])('accepts %j: there are no composition rules', async (password) => {
    expect(await codesOf(password)).toEqual([]);
  });

  it.each([
    ...['password', 'Password1', 'PASSW0RD', 'iloveyou', 'sunshine', '12345678', '1234567890', '11111111'],
    ...['qwertyuiop', '1q2w3e4r', 'aaaaaaaaaa', 'abcabcabcabc', 'passwordpassword', '12121212', 'Changeme'],
  ])('refuses %s, which attackers try first', async (password) => {
    expect(await codesOf(password)).toEqual(['password_too_common']);
  });

  it('refuses the 3,000 most common passwords that are long enough', async () => {
    const mostCommon = dictionary['passwords-common'].filter((password) => password.length >= 8).slice(0, 3000);
    expect(mostCommon).toHaveLength(3000);
    const errors = await Promise.all(mostCommon.map(codesOf));
    expect(new Set(errors.flat())).toEqual(new Set(['password_too_common']));
    expect(errors.every((codes) => codes.length === 1)).toBe(true);
  });

  it('counts code points after normalization, with inclusive limits', async () => {
    expect(await passwordErrors('e\u0301a-zQ7w', { passwordMin: 8 })).toMatchObject([
      { field: 'password', code: 'too_short', params: { min: 8 } },
    ]);
    expect(await codesOf('e\u0301a-zQ7w!')).toEqual([]);
    expect(await codesOf('🔑🔒a-zQ7')).toEqual(['too_short']);
    expect(await codesOf('🔑🔒a-zQ7w')).toEqual([]);
    expect(await codesOf(`${'z8-'.repeat(341)}q`)).toEqual([]);
    expect(await passwordErrors('🔑'.repeat(1025), { passwordMin: 8 })).toMatchObject([
      { code: 'too_long', params: { max: 1024 } },
    ]);
  });

  it('refuses NUL and lone surrogates', async () => {
    expect(await codesOf('good pass\0word')).toEqual(['invalid_characters']);
    expect(await codesOf('good pass\ud800word')).toEqual(['invalid_characters']);
  });
});
