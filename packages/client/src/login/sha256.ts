/** The parts of the fractional parts of the roots of primes from which SHA-256 begins (FIPS 180-4, 4.2.2 and 5.3.3). */
function constants() {
  const isPrime = (n: number) => Array.from({ length: n - 2 }, (_, i) => n % (i + 2)).every((rest) => rest !== 0);
  const primes = Array.from({ length: 310 }, (_, i) => i + 2).filter(isPrime);
  const fraction = (n: number) => ((n % 1) * 2 ** 32) | 0;
  return { k: primes.map((n) => fraction(n ** (1 / 3))), h: primes.slice(0, 8).map((n) => fraction(n ** 0.5)) };
}

/** SHA-256 of ASCII text, for platforms without `crypto.subtle`, such as React Native. */
export function sha256(text: string): Uint8Array {
  const { k, h } = constants();
  const blocks = new DataView(new ArrayBuffer((((text.length + 8) >> 6) + 1) * 64));
  for (let i = 0; i < text.length; i += 1) blocks.setUint8(i, text.charCodeAt(i));
  blocks.setUint8(text.length, 0x80);
  blocks.setUint32(blocks.byteLength - 4, text.length * 8);
  const rotate = (x: number, n: number) => (x >>> n) | (x << (32 - n));
  for (let start = 0; start < blocks.byteLength; start += 64) {
    const w: number[] = [];
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, last = 0] = h;
    for (let i = 0; i < 64; i += 1) {
      const [two = 0, seven = 0, fifteen = 0, sixteen = 0] = [w[i - 2], w[i - 7], w[i - 15], w[i - 16]];
      w[i] =
        i < 16
          ? blocks.getInt32(start + i * 4)
          : (sixteen +
              (rotate(fifteen, 7) ^ rotate(fifteen, 18) ^ (fifteen >>> 3)) +
              seven +
              (rotate(two, 17) ^ rotate(two, 19) ^ (two >>> 10))) |
            0;
      const [ki = 0, wi = 0] = [k[i], w[i]];
      const one = last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ki + wi;
      const other = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, last] = [(one + other) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    for (const [i, value] of [a, b, c, d, e, f, g, last].entries()) h[i] = ((h[i] ?? 0) + value) | 0;
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, value] of h.entries()) digest.setInt32(i * 4, value);
  return new Uint8Array(digest.buffer);
}
