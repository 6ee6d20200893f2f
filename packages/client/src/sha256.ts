const primes: number[] = [];
for (let candidate = 2; primes.length < 64; candidate += 1)
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
const fraction = (value: number) => ((value % 1) * 2 ** 32) | 0;
const constants = primes.map((prime) => fraction(prime ** (1 / 3)));
const initial = primes.slice(0, 8).map((prime) => fraction(prime ** (1 / 2)));
const w = new Int32Array(64);
const turn = (x: number, n: number) => (x >>> n) | (x << (32 - n));

/**
 * SHA-256 (FIPS 180-4) of ASCII text, as eight words. WebCrypto needs https, is missing in React Native, and would take a round through
 * a thread for each of thousands of short texts.
 */
export function sha256(text: string): Int32Array {
  const words = new Int32Array((((text.length + 8) >> 6) + 1) << 4);
  for (let i = 0; i < text.length; i += 1)
    words[i >> 2] = (words[i >> 2] ?? 0) | (text.charCodeAt(i) << (24 - (i & 3) * 8));
  words[text.length >> 2] = (words[text.length >> 2] ?? 0) | (0x80 << (24 - (text.length & 3) * 8));
  words[words.length - 1] = text.length * 8;
  const state = Int32Array.from(initial);
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) w[i] = words[block + i] as number;
      else {
        const [x, y] = [w[i - 15] as number, w[i - 2] as number];
        const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
        const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
        w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
      }
      const t1 =
        (h +
          (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
          ((e & f) ^ (~e & g)) +
          (constants[i] as number) +
          (w[i] as number)) |
        0;
      const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => {
      state[i] = ((state[i] as number) + value) | 0;
    });
  }
  return state;
}

/** The bytes of a digest. */
export function bytesOf(digest: Int32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(32));
  digest.forEach((word, i) => {
    bytes.setInt32(i * 4, word);
  });
  return new Uint8Array(bytes.buffer);
}
