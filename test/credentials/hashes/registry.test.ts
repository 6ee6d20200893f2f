import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dummyHashFor, parseHash } from '../../../src/credentials/hashes/registry.js';

// All hashes here are from other implementations: passlib's documentation, crypt_blowfish's tests, and Python's hashlib.
const bcrypt = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
const scrypt = '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E';
const passlib = '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk';
const django = 'pbkdf2_sha256$1000$seasalt$92/RFjvlS6ZwzPGhi/NSb8rA/wtOpWSOxH1AbWIQzVk=';
const vectors: readonly (readonly [password: string, scheme: string, text: string])[] = [
  ['U*U', '$2b$05', bcrypt],
  ['U*U*', '$2b$05', '$2b$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK'],
  ['U*U*U', '$2b$05', '$2y$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a'],
  ['password', '$scrypt$ln=16,r=8,p=1', scrypt],
  [
    'contraseña larga',
    '$scrypt$ln=10,r=8,p=2',
    '$scrypt$ln=10,r=8,p=2$8PHy8/T19vf4+fr7/P3+/w$TBlESDk20Xt6sWCPyVBeyIfYjoU0PR+tIfyheVsYOLc',
  ],
  ['toomanysecrets', '$pbkdf2-sha256$29000', passlib],
  [
    'password',
    '$pbkdf2-sha256$6400',
    '$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44',
  ],
  [
    'contraseña larga',
    '$pbkdf2-sha512$1000',
    '$pbkdf2-sha512$1000$8PHy8/T19vf4.fr7/P3./w$32.F7kUhJ1wSnEYZskxzy2bH7IuiVi6dd3CJZMFC8MaFVchgr/7Gmpf/05R/2Br1.AL0aEiblzUggj2vhrjqQQ',
  ],
  ['contraseña larga', '$pbkdf2$1000', '$pbkdf2$1000$8PHy8/T19vf4.fr7/P3./w$P5CsQdMu6XlIE.VDmG.EEpVdBjU'],
  ['contraseña larga', '$pbkdf2-sha256$1000', django],
  ['contraseña larga', '$pbkdf2$1000', 'pbkdf2_sha1$1000$seasalt$Q67dF93Nt7POxWJpjdvQMHhQd4Q='],
  [
    'password',
    '$argon2i$v=19$m=65536,t=2,p=1',
    '$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA',
  ],
  [
    'password',
    '$argon2id$v=19$m=65536,t=2,p=1',
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ],
];

describe('a hash from another system', () => {
  it.each(vectors)('of %j with %s matches that password and no other', async (password, scheme, text) => {
    const hash = parseHash(text);
    expect(hash?.scheme).toBe(scheme);
    expect(await hash?.verify(password)).toBe(true);
    expect(await hash?.verify(`${password}.`)).toBe(false);
    expect(await hash?.verify('')).toBe(false);
  });

  it.each([
    bcrypt.replace('$2a$', '$2x$'),
    bcrypt.replace('$2a$', '$2$'),
    bcrypt.replace('$05$', '$5$'),
    bcrypt.replace('$05$', '$03$'),
    bcrypt.replace('$05$', '$32$'),
    bcrypt.replace('C.E5', 'C/E5'),
    bcrypt.replace(/W$/, 'X'),
    bcrypt.slice(0, -1),
    `${bcrypt}.`,
    `${bcrypt}\n`,
    `bcrypt$${bcrypt}`,
    scrypt.replace('ln=16', 'ln=0'),
    scrypt.replace('ln=16', 'ln=016'),
    scrypt.replace('ln=16', 'ln=32'),
    scrypt.replace('r=8', 'r=0'),
    scrypt.replace('p=1', 'p=0'),
    scrypt.replace('ln=16,r=8', 'r=8,ln=16'),
    scrypt.replace('aM15713r3Xsvxbi31lqr1Q', 'aM15'),
    scrypt.replace(/E$/, 'F'),
    `${scrypt}=`,
    scrypt.replace('+', '.'),
    passlib.replace('29000', '0'),
    passlib.replace('29000', '029000'),
    passlib.replace('29000', '1e3'),
    passlib.replace('sha256', 'sha512'),
    passlib.replace('sha256', 'md5'),
    passlib.replaceAll('.', '+'),
    passlib.slice(0, -4),
    passlib.replace('$N2YMIWQsBWBMae09x1jrPQ$', '$$'),
    django.replace('$seasalt$', '$$'),
    django.replace('$seasalt$', '$sea$salt$'),
    django.replace('$seasalt$', `$${'s'.repeat(65)}$`),
    django.replace('$seasalt$', '$sal\u00fct$'),
    django.replace('sha256', 'sha512'),
    django.slice(0, -1),
    '$5$rounds=5000$saltsalt$hashhashhash',
    'plain',
    '',
  ])('is refused in the form %j', (text) => {
    expect(parseHash(text)).toBeUndefined();
  });
});

const cheap = fc.oneof(
  fc.constant('$2b$04'),
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 3 }))
    .map(([ln, r, p]) => `$scrypt$ln=${ln},r=${r},p=${p}`),
  fc
    .tuple(fc.constantFrom('', '-sha256', '-sha512'), fc.integer({ min: 1, max: 50 }))
    .map(([digest, rounds]) => `$pbkdf2${digest}$${rounds}`),
  fc
    .tuple(fc.constantFrom('argon2id', 'argon2i', 'argon2d'), fc.integer({ min: 32, max: 64 }))
    .map(([variant, m]) => `$${variant}$v=19$m=${m},t=1,p=4`),
);

describe('a dummy hash', () => {
  it('has the requested scheme, and verifying it returns false', async () => {
    await fc.assert(
      fc.asyncProperty(cheap, fc.string({ unit: 'binary' }), async (scheme, password) => {
        const text = dummyHashFor(scheme) ?? '';
        expect(parseHash(text)?.scheme).toBe(scheme);
        await expect(parseHash(text)?.verify(password)).resolves.toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['', '$6$', '$2b$99', '$argon2id$v=19$m=0,t=1,p=1', '$pbkdf2-md5$1000'])(
    'does not exist for %j',
    (scheme) => {
      expect(dummyHashFor(scheme)).toBeUndefined();
    },
  );
});

it('every hash that parses can be verified', async () => {
  const base64 = fc
    .uint8Array({ minLength: 1, maxLength: 70 })
    .map((bytes) => Buffer.from(bytes).toString('base64').replace(/=+$/, ''));
  await fc.assert(
    fc.asyncProperty(cheap, base64, base64, async (scheme, salt, output) => {
      const text = `${scheme}$${salt}$${output}`;
      const hash = parseHash(scheme.startsWith('$pbkdf2') ? text.replaceAll('+', '.') : text);
      if (hash !== undefined) await expect(hash.verify('x')).resolves.toBe(false);
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['bcrypt', '$2b$12'],
  ['scrypt', '$scrypt$ln=16,r=8,p=1'],
  ['PBKDF2', '$pbkdf2-sha512$400000'],
  ['argon2', '$argon2id$v=19$m=65536,t=10,p=1'],
])('verifying %s does not block the event loop', async (_, scheme) => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  await parseHash(dummyHashFor(scheme) ?? '')?.verify('x');
  clearInterval(timer);
  // With a blocked event loop, there would be none.
  expect(ticks).toBeGreaterThan(1);
});
