import { dictionary } from '@zxcvbn-ts/language-common';
import { describe, expect, it } from 'vitest';
import { passwordErrors } from '../../src/credentials/password-policy.js';

const rules = { passwordMin: 8, passwordWords: ['Postern', 'Acme Bank', 'login.acme.example'] };
const codesOf = async (password: string) => (await passwordErrors(password, rules)).map(({ code }) => code);

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

  it.each([
    ...['0123456789', '987654321', '0987654321', 'abcdefgh', 'hgfedcba', 'qwertyuiop', 'QWERTZuiop', 'azertyuiop'],
    ...['1qaz2wsx', '1QAZ!qaz', 'qwer1234asdf', '1234567890qwertyuiop', 'zaq12wsxcde3', 'abcABC123', 'aaaabbbb1111'],
  ])('refuses %s: it is only a pattern of keys', async (password) => {
    expect(await codesOf(password)).toEqual(['password_too_common']);
  });

  it.each(['deaf weaver', 'treehouse on a hill', 'assassinate', 'pool table 8'])(
    'accepts %j, whose runs are words',
    async (password) => {
      expect(await codesOf(password)).toEqual([]);
    },
  );

  // The list in the sources was made from other lists.
  it.each([8, 10, 12, 15])(
    'refuses 99 %% of the 3,000 most frequent passwords of at least %i characters',
    async (passwordMin) => {
      const mostCommon = dictionary['passwords-common'].filter(({ length }) => length >= passwordMin).slice(0, 3000);
      const errors = await Promise.all(
        mostCommon.map((password) => passwordErrors(password, { ...rules, passwordMin })),
      );
      const accepted = mostCommon.filter((_, at) => errors[at]?.length === 0);
      expect(accepted.length / mostCommon.length, accepted.join(' ')).toBeLessThan(0.01);
    },
  );

  it('compares with frequent passwords without case, spaces and digits at the end', async () => {
    for (const password of ['Manchester United', 'ONEDIRECTION2026', 'p@ssword99', 'I Love You 4321'])
      expect([password, await codesOf(password)]).toEqual([password, ['password_too_common']]);
  });

  it("refuses the user's own name and addresses, and the names of the service", async () => {
    const user = {
      username: 'mjohnson',
      email: 'mary.j.johnson@mail.example',
      phone: '+4915112345678',
      name: 'Mary-Ann Johnson-Smythe',
    };
    const errors = async (password: string) => (await passwordErrors(password, rules, user)).map(({ code }) => code);
    for (const password of [
      ...['mjohnson', 'MJohnson2026!', 'mary.j.johnson@mail.example', 'mary.j.johnson', 'maryjjohnson1', 'smythe1987'],
      ...['mary-ann johnson-smythe', 'MaryAnnJohnsonSmythe', 'mjohnsonmjohnson', '4915112345678', '+4915112345678'],
      ...['015112345678', '15112345678'],
      ...['postern2026', 'Acme Bank', 'acmebank!!', 'login.acme.example'],
    ])
      expect([password, await errors(password)]).toEqual([password, ['password_too_personal']]);
    for (const password of ['my johnson barn', 'acme bank of rivers', 'smythe-quartz-91'])
      expect([password, await errors(password)]).toEqual([password, []]);
  });

  it('says that a password could not be checked, if the operator wants it', async () => {
    const breached = { contains: async () => undefined };
    const codes = async (refuseUnchecked: boolean) =>
      (await passwordErrors('kx7#mQ2v', { ...rules, breached, refuseUnchecked })).map(({ code }) => code);
    expect(await codes(true)).toEqual(['password_not_checked']);
    expect(await codes(false)).toEqual([]);
  });

  it('counts code points after normalization, with inclusive limits', async () => {
    expect(await passwordErrors('e\u0301a-zQ7w', rules)).toMatchObject([
      { field: 'password', code: 'too_short', params: { min: 8 } },
    ]);
    expect(await codesOf('e\u0301a-zQ7w!')).toEqual([]);
    expect(await codesOf('🔑🔒a-zQ7')).toEqual(['too_short']);
    expect(await codesOf('🔑🔒a-zQ7w')).toEqual([]);
    expect(await codesOf(`${'z8-'.repeat(341)}q`)).toEqual([]);
    expect(await passwordErrors('🔑'.repeat(1025), rules)).toMatchObject([{ code: 'too_long', params: { max: 1024 } }]);
  });

  it('refuses NUL and lone surrogates', async () => {
    expect(await codesOf('good pass\0word')).toEqual(['invalid_characters']);
    expect(await codesOf('good pass\ud800word')).toEqual(['invalid_characters']);
  });
});
