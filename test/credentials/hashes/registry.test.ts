import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matches, type PasswordHash } from '../../../src/credentials/hashes/password-hash.js';
import { dummyHashFor, parseHash, readHash } from '../../../src/credentials/hashes/registry.js';
import { outerInput, wrappedText } from '../../../src/credentials/hashes/wrapped.js';
import { createPasswordHasher } from '../../../src/credentials/passwords.js';
import { anyText } from '../../support/any-text.js';
import { isThorough, runs } from '../../support/rounds.js';

// All hashes here are from other implementations: passlib's documentation, crypt_blowfish's tests, and Python's hashlib.
const bcrypt = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
const scrypt = '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E';
const passlib = '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk';
const django = 'pbkdf2_sha256$1000$seasalt$92/RFjvlS6ZwzPGhi/NSb8rA/wtOpWSOxH1AbWIQzVk=';
const long = 'contraseña larga';
const keycloakSecret = {
  value: 'uiI6qRFjjP8AYeyxuODNSYRxRGctsbrqGAa3flBSyNfbo45Yp2ZwkyLv+i3AYylQaHK3L+4+5Pljwmc1fzEl6A==',
  salt: '8PHy8/T19vf4+fr7/P3+/w==',
};
const keycloak = JSON.stringify({
  type: 'password',
  secretData: JSON.stringify({ ...keycloakSecret, additionalParameters: {} }),
  credentialData: JSON.stringify({ hashIterations: 1000, algorithm: 'pbkdf2-sha256', additionalParameters: {} }),
});
const firebaseOf = (encode: (text: string) => string) =>
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=' +
  `${encode('Bw==')},sk=${encode('jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==')}` +
  `$${encode('42xEC+ixf3L2lw==')}$${encode('lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==')}`;
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
  // PBKDF2 with other lengths than that of the digest, and in other formats.
  [
    long,
    '$pbkdf2-sha256$27500',
    '$pbkdf2-sha256$27500$8PHy8/T19vf4.fr7/P3./w$HtZVl9DqKtejGh0Fe6LoNxmg01m/vuEPLnkk0UQDrR6E0GdB2u3afENKEBXPok83tK1RLrNkptM.lTgOyDXlZQ',
  ],
  [long, '$pbkdf2$1000', '$pbkdf2$1000$8PHy8/T19vf4.fr7/P3./w$P5CsQdMu6XlIE.VDmG.EEpVdBjX4V12L'],
  [
    long,
    '$pbkdf2-sha512$1000',
    '$pbkdf2-sha512$1000$8PHy8/T19vf4.fr7/P3./w$32.F7kUhJ1wSnEYZskxzy2bH7IuiVi6dd3CJZMFC8MY',
  ],
  [
    long,
    '$pbkdf2-sha512$1000',
    '$pbkdf2-sha512$i=1000,l=64$8PHy8/T19vf4+fr7/P3+/w$32+F7kUhJ1wSnEYZskxzy2bH7IuiVi6dd3CJZMFC8MaFVchgr/7Gmpf/05R/2Br1+AL0aEiblzUggj2vhrjqQQ',
  ],
  [
    long,
    '$pbkdf2-sha512$1000',
    'pbkdf2_sha512$1000$seasalt$ln0WjFicM+bXXgk6uitijMHhGTDSwoI1ECk8akt6L3gxq8V8vo7oEJRzN1c77eGXTKOJ91fc04zQJ5M/vmQHbA==',
  ],
  [long, '$pbkdf2-sha256$1000', keycloak],
  [
    long,
    '$pbkdf2-sha256$1000',
    JSON.stringify({
      secretData: keycloakSecret,
      credentialData: { hashIterations: 1000, algorithm: 'pbkdf2-sha256' },
    }),
  ],
  // ASP.NET Core Identity, version 3.
  [long, '$pbkdf2$1000', 'AQAAAAAAAAPoAAAAEPDx8vP09fb3+Pn6+/z9/v8/kKxB0y7peUgT5UOYb4QSlV0GNfhXXYs8Cb2zQ8A6nw=='],
  [long, '$pbkdf2-sha256$1000', 'AQAAAAEAAAPoAAAAEPDx8vP09fb3+Pn6+/z9/v+6IjqpEWOM/wBh7LG44M1JhHFEZy2xuuoYBrd+UFLI1w=='],
  [long, '$pbkdf2-sha512$1000', 'AQAAAAIAAAPoAAAAEPDx8vP09fb3+Pn6+/z9/v/fb4XuRSEnXBKcRhmyTHPLZsfsi6JWLp13cIlkwULwxg=='],
  // Directories.
  [long, '$ssha-sha1', '{SSHA}k2bKOnTCmMgj/p8I4vNsH/yshqbw8fLz9PX29w=='],
  [long, '$ssha-sha256', '{SSHA256}SZilKlakATB8edbuGESgNp58y/Xdei6B9agUYfMrl+Lw8fLz9PX29w=='],
  [long, '$ssha-sha384', '{ssha384}F749Bswkn98Fi3IqtveR6Hy1Raah8uzVRHh5sOGMDCZ65UinCafS/G121HUEHUvq8PHy8/T19vc='],
  [
    long,
    '$ssha-sha512',
    '{SSHA512}64lTcfksCjQQfkStv4EBgUUrrOMXwQ6ipmp2zijLw7hRCQtd5Cfbe8FMX++9aQiACQGxP8BL3gDoOnTRgcvgfPDx8vP09fb3',
  ],
  // WordPress 6.8, and phpass with its own test.
  [long, '$wp$05', '$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC.3H5GGpaL.LS4vuJjKl3.nZM00CEzBvq'],
  ['test12345', '$phpass$11', '$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0'],
  ['test12345', '$phpass$11', '$H$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0'],
  // The example of firebase/scrypt.
  ['user1password', '$fbscrypt$n=14,r=8,p=1', firebaseOf((text) => text)],
  [
    'user1password',
    '$fbscrypt$n=14,r=8,p=1',
    firebaseOf((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  ],
  // The vectors of "Unix crypt using SHA-256 and SHA-512", version 0.6, computed by glibc.
  ['Hello world!', '$5$rounds=5000', '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5'],
  ['Hello world!', '$5$rounds=10000', '$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA'],
  [
    'a very much longer text to encrypt.  This one even stretches over morethan one line.',
    '$5$rounds=1400',
    '$5$rounds=1400$anotherlongsalt$J9aeb3JM21zj/EljRn5hrItEtVATsqy4LkW.9wJMa.B',
  ],
  [
    'we have a short salt string but not a short password',
    '$5$rounds=77777',
    '$5$rounds=77777$short$JiO1O3ZpDAxGJeaDIuqCoEFysAe1mZNJRs3pw0KQRd/',
  ],
  [
    'a short string',
    '$5$rounds=123456',
    '$5$rounds=123456$asaltof16chars..$gP3VQ/6X7UUEW3HkBn2w1/Ptq2jxPyzV/cZKmF/wJvD',
  ],
  [
    'Hello world!',
    '$6$rounds=5000',
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
  ],
  [
    'Hello world!',
    '$6$rounds=10000',
    '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
  ],
  [
    'a very much longer text to encrypt.  This one even stretches over morethan one line.',
    '$6$rounds=1400',
    '$6$rounds=1400$anotherlongsalt$PXPAe5SXWVnLAwL00y77c77ficvV5LBT1oKfJRZx5CQcCWy.c9CQXcRJX2RsHuefn.YKyrXwYWZoj7ySLquuC1',
  ],
  [
    'we have a short salt string but not a short password',
    '$6$rounds=77777',
    '$6$rounds=77777$short$WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0',
  ],
  [
    'a short string',
    '$6$rounds=123456',
    '$6$rounds=123456$asaltof16chars..$BtCwjqMJGx5hrJhZywWvt0RLE8uZ4oPwcelCjmw2kSYu.Ec6ycULevoBK25fs2xXgMNrCzIMVcgEJAstJeonj1',
  ],
  [
    long,
    '$6$rounds=5000',
    '$6$saltsalt$khvislo1Ylj/eWMYiVWrbhOxvzKfB2SNnOacJcAr2l16UveCw8/4vfcuIKfJ3mVD1CJMarLkRcAPBxCzbwD0k.',
  ],
  ['a'.repeat(200), '$5$rounds=1234', '$5$rounds=1234$x$ysgTe8RVrqdjy92228OJgih5G1t0mAB7dHzIeBIzGz9'],
];

/** These have quick siblings of the same kind. That of argon2i is argon2id. */
const hasQuickSiblings = (scheme: string) => /rounds=\d{5,}$|ln=16|argon2i\$/.test(scheme);
const quickVectors = vectors.filter(([, scheme]) => isThorough || !hasQuickSiblings(scheme));
/** Hashes with more than 10,000 rounds are checked only in a thorough run. */
const usualVectors = vectors.filter(([, scheme]) => isThorough || !/rounds=(?!10000$)\d{5,}$/.test(scheme));

const matching = (hash: PasswordHash | undefined, password: string) =>
  hash === undefined ? Promise.resolve(undefined) : matches(hash, password);

describe('a hash from another system', () => {
  it.each(usualVectors)('of %j with %s matches that password and no other', async (password, scheme, text) => {
    const hash = parseHash(text);
    expect(hash?.scheme).toBe(scheme);
    expect(await matching(hash, password)).toBe(true);
    // The text that is stored is the same hash, and its scheme is in the place where the database looks for it.
    const stored = parseHash(hash?.stored ?? '');
    expect([stored?.scheme, stored?.stored, stored?.cost]).toEqual([scheme, hash?.stored, hash?.cost]);
    if (hasQuickSiblings(scheme) && !isThorough) return;
    expect(await matching(hash, `${password}.`)).toBe(false);
    expect(await matching(hash, '')).toBe(false);
    expect(await matching(stored, password)).toBe(true);
  });

  it.each(quickVectors)(
    'of %j with %s matches that password and no other when it is wrapped',
    async (password, scheme, text) => {
      const inner = parseHash(text);
      if (inner === undefined) throw new Error('the hash cannot be read');
      const outer = dummyHashFor('$argon2id$v=19$m=19456,t=2,p=1') ?? '';
      const stored = wrappedText(inner, outer);
      const wrapped = parseHash(stored);
      const { output } = inner;
      expect([wrapped?.scheme, wrapped?.stored, wrapped?.outer]).toEqual([
        `$argon2id(m=19456,t=2,p=1)${scheme}`,
        stored,
        outer,
      ]);
      expect([wrapped?.cost, wrapped?.maxPasswordBytes]).toEqual([inner.cost, inner.maxPasswordBytes]);
      expect(stored).not.toContain(inner.stored.slice(-12));
      const derived = [password, `${password}.`, ''].map(async (each) =>
        outerInput((await wrapped?.derive(each)) ?? output),
      );
      expect((await Promise.all(derived)).map((each) => each === outerInput(output))).toEqual([true, false, false]);
      // Only Postern writes wrapped hashes: an import does not accept them, because its limits do not count both parts.
      expect(readHash(stored)).toBeUndefined();
    },
  );

  it('that is wrapped is verified with argon2id of its output', async () => {
    const hasher = createPasswordHasher();
    const stored = await hasher.toStored(django);
    expect(await hasher.verify(stored, long, null)).toBe(true);
    expect(await hasher.verify(stored, `${long}.`, null)).toBe(false);
  });

  it('of WordPress ignores white space around the password, as WordPress does', async () => {
    const hash = parseHash('$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC.3H5GGpaL.LS4vuJjKl3.nZM00CEzBvq');
    expect(await matching(hash, ` ${long}\n`)).toBe(true);
  });

  it.each(['$5$rounds=1000', '$6$rounds=1000', '$phpass$7'])(
    '%s refuses passwords of more than 512 bytes',
    async (scheme) => {
      expect(await matching(parseHash(dummyHashFor(scheme) ?? ''), 'a'.repeat(100_000))).toBe(false);
    },
  );

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
    passlib.replace('sha256', 'md5'),
    passlib.replaceAll('.', '+'),
    passlib.slice(0, -24),
    passlib.replace('$N2YMIWQsBWBMae09x1jrPQ$', '$$'),
    django.replace('$seasalt$', '$$'),
    django.replace('$seasalt$', '$sea$salt$'),
    django.replace('$seasalt$', `$${'s'.repeat(65)}$`),
    django.replace('$seasalt$', '$sal\u00fct$'),
    django.replace('sha256', 'md5'),
    django.slice(0, -2),
    '$5$rounds=5000$saltsalt$hashhashhash',
    '$6$rounds=999$saltsalt$khvislo1Ylj/eWMYiVWrbhOxvzKfB2SNnOacJcAr2l16UveCw8/4vfcuIKfJ3mVD1CJMarLkRcAPBxCzbwD0k.',
    '$6$salt0123456789012$khvislo1Ylj/eWMYiVWrbhOxvzKfB2SNnOacJcAr2l16UveCw8/4vfcuIKfJ3mVD1CJMarLkRcAPBxCzbwD0k.',
    '$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.Lz',
    '$P$4IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0',
    '$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC/3H5GGpaL.LS4vuJjKl3.nZM00CEzBvq',
    '$wp$1$salt$hash',
    '{SSHA}????',
    '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
    'AQAAAAMAAAPoAAAAEPDx8vP09fb3+Pn6+/z9/v/fb4XuRSEnXBKcRhmyTHPLZsfsi6JWLp13cIlkwULwxg==',
    'AQAAAAIAAAAAAAAAEPDx8vP09fb3+Pn6+/z9/v/fb4XuRSEnXBKcRhmyTHPLZsfsi6JWLp13cIlkwULwxg==',
    'AQAAAAIA',
    '{"secretData":"{","credentialData":{}}',
    '{"secretData":{"value":"","salt":""},"credentialData":{"hashIterations":1e99,"algorithm":"pbkdf2-sha256"}}',
    '$fbscrypt$v=2,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9A==',
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
  fc.constantFrom('$wp$04', '$phpass$7', '$5$rounds=1000', '$6$rounds=1000', '$ssha-sha1', '$ssha-sha512'),
  fc.integer({ min: 1, max: 6 }).map((n) => `$fbscrypt$n=${n},r=8,p=1`),
);
const wrappedCheap = cheap.map((scheme) => `$argon2id(m=32,t=1,p=1)${scheme}`);

describe('a dummy hash', () => {
  it('has the requested scheme, and verifying it returns false', async () => {
    await fc.assert(
      fc.asyncProperty(cheap, anyText(), async (scheme, password) => {
        const text = dummyHashFor(scheme) ?? '';
        expect(parseHash(text)?.scheme).toBe(scheme);
        await expect(matching(parseHash(text), password)).resolves.toBe(false);
      }),
      { numRuns: runs(60, 300) },
    );
  });

  it('has the requested scheme, also of wrapped hashes', () => {
    fc.assert(
      fc.property(wrappedCheap, (scheme) => {
        expect(parseHash(dummyHashFor(scheme) ?? '')?.scheme).toBe(scheme);
      }),
    );
  });

  it.each([
    '',
    '$6$',
    '$2b$99',
    '$argon2id(m=32,t=1,p=1)',
    '$argon2id(m=32,t=1,p=1)$md5$1',
    '$argon2id$v=19$m=0,t=1,p=1',
    '$pbkdf2-md5$1000',
  ])('does not exist for %j', (scheme) => {
    expect(dummyHashFor(scheme)).toBeUndefined();
  });
});

it('every hash that parses can be verified', async () => {
  const base64 = fc
    .uint8Array({ minLength: 1, maxLength: 70 })
    .map((bytes) => Buffer.from(bytes).toString('base64').replace(/=+$/, ''));
  await fc.assert(
    fc.asyncProperty(cheap, base64, base64, async (scheme, salt, output) => {
      const text = `${scheme}$${salt}$${output}`;
      const hash = parseHash(scheme.startsWith('$pbkdf2') ? text.replaceAll('+', '.') : text);
      if (hash !== undefined) await expect(matching(hash, 'x')).resolves.toBe(false);
    }),
    { numRuns: runs(150, 500) },
  );
});

it.each([
  ['bcrypt', '$2b$11'],
  ['scrypt', '$scrypt$ln=16,r=8,p=1'],
  ['PBKDF2', '$pbkdf2-sha512$200000'],
  ['argon2', '$argon2id$v=19$m=65536,t=4,p=1'],
])('verifying %s does not block the event loop', async (_, scheme) => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  await matching(parseHash(dummyHashFor(scheme) ?? ''), 'x');
  clearInterval(timer);
  // With a blocked event loop, there would be none.
  expect(ticks).toBeGreaterThan(1);
});
