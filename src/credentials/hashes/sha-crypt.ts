import { hash as digest } from 'node:crypto';
import { randomCryptText, writeCryptBase64 } from './base64.js';
import { iterate, maxIteratedBytes } from './iterate.js';
import { checkLength, type HashFormat, type PasswordHash } from './password-hash.js';

interface Variant {
  readonly algorithm: 'sha256' | 'sha512';
  /** The bytes of the digest, in the order in which they are written. */
  readonly order: readonly number[];
  /** The characters of the output, and those that the last one can be. */
  readonly length: number;
  readonly last: RegExp;
}

type Triple = readonly [number, number, number];

/** Step 22 of the specification: triples of bytes, each from the one before, then the rest. The last of a triple is first. */
function orderOf(count: number, next: (triple: Triple) => Triple, rest: readonly number[]): readonly number[] {
  const order: number[] = [];
  let triple: Triple = [0, count, 2 * count];
  for (let index = 0; index < count; index += 1) {
    order.push(...triple.toReversed());
    triple = next(triple);
  }
  return [...order, ...rest];
}

const variants: Readonly<Record<string, Variant>> = {
  5: {
    algorithm: 'sha256',
    order: orderOf(10, ([a, b, c]) => [c + 1, a + 1, b + 1], [30, 31]),
    length: 43,
    last: /[./0-9A-D]$/,
  },
  6: {
    algorithm: 'sha512',
    order: orderOf(21, ([a, b, c]) => [b + 1, c + 1, a + 1], [63]),
    length: 86,
    last: /[./01]$/,
  },
};

const form = /^\$([56])\$(?:rounds=([1-9]\d{3,8})\$)?([!-#%-~]*)\$([./A-Za-z0-9]*)$/;
const defaultRounds = 5000;
const saltLength = { min: 1, max: 16 };

/**
 * sha256-crypt and sha512-crypt, as in /etc/shadow: `$6$salt$hash` and `$6$rounds=10000$salt$hash`. Stored with the rounds.
 * The steps are those of Ulrich Drepper's specification "Unix crypt using SHA-256 and SHA-512", version 0.6.
 */
export const shaCrypt: HashFormat = {
  parse(text) {
    const [, id = '', roundsText, salt = '', output = ''] = form.exec(text) ?? [];
    const variant = variants[id];
    if (variant === undefined) return undefined;
    checkLength('salt', salt.length, saltLength);
    checkLength('hash', output.length, { min: variant.length, max: variant.length });
    if (!variant.last.test(output)) return undefined;
    const rounds = roundsText === undefined ? defaultRounds : Number(roundsText);
    const scheme = `$${id}$rounds=${rounds}`;
    return {
      algorithm: `${variant.algorithm}-crypt`,
      cost: { rounds },
      scheme,
      stored: `${scheme}$${salt}$${output}`,
      withoutOutput: `${scheme}$${salt}$${'.'.repeat(output.length)}`,
      output: Buffer.from(output),
      derive: derivation(variant, rounds, Buffer.from(salt)),
    };
  },
  dummyHash: (scheme) => {
    const { length = 0 } = variants[scheme.slice(1, 2)] ?? {};
    return `${scheme}$${randomCryptText(16)}$${randomCryptText(Math.max(0, length - 1))}.`;
  },
};

function derivation({ algorithm, order }: Variant, rounds: number, salt: Buffer): PasswordHash['derive'] {
  const hash = (...parts: readonly Buffer[]) => digest(algorithm, Buffer.concat(parts), 'buffer');
  return async (password) => {
    const key = Buffer.from(password).subarray(0, maxIteratedBytes);
    // Steps 4 to 12.
    const b = hash(key, salt, key);
    const bits = key.length === 0 ? [] : [...key.length.toString(2)].reverse();
    let a = hash(key, salt, repeated(b, key.length), ...bits.map((bit) => (bit === '1' ? b : key)));
    // Steps 13 to 20.
    const p = repeated(hash(...Array<Buffer>(key.length).fill(key)), key.length);
    const s = repeated(hash(...Array<Buffer>(16 + (a[0] ?? 0)).fill(salt)), salt.length);
    // Step 21.
    await iterate(rounds, (round) => {
      const isOdd = round % 2 === 1;
      const middle = [...(round % 3 === 0 ? [] : [s]), ...(round % 7 === 0 ? [] : [p])];
      a = isOdd ? hash(p, ...middle, a) : hash(a, ...middle, p);
    });
    const written = writeCryptBase64(Uint8Array.from(order, (place) => a[place] ?? 0));
    return Buffer.from(Buffer.byteLength(password) > maxIteratedBytes ? '' : written);
  };
}

/** The bytes again and again, up to a length. */
const repeated = (bytes: Buffer, length: number) => Buffer.alloc(length, bytes);
