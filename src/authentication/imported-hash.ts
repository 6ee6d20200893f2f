/** Bounds of what one verification may cost: memory in KiB, passes, lanes. */
const most = { memory: 65_536, passes: 10, lanes: 4 };
/** RFC 9106, section 3.1: at least 8 KiB for each lane. */
const leastMemoryPerLane = 8;
/** Bytes. */
const saltLength = { min: 8, max: 48 };
const outputLength = { min: 16, max: 64 };

const phc =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Whether a password hash of another system can be used: argon2id as a PHC string, and not too dear to verify. */
export function isUsableHash(hash: string): boolean {
  const [, m, t, p, salt = '', output = ''] = phc.exec(hash) ?? [];
  const [memory, passes, lanes] = [Number(m), Number(t), Number(p)];
  // Written so that NaN, for what is no such string, fails.
  const affordable = memory <= most.memory && passes <= most.passes && lanes <= most.lanes;
  return affordable && memory >= leastMemoryPerLane * lanes && holds(salt, saltLength) && holds(output, outputLength);
}

function holds(base64: string, { min, max }: { min: number; max: number }): boolean {
  const bytes = Buffer.from(base64, 'base64');
  // Spare bits that are set are another spelling of the same bytes, which the verifier refuses.
  return bytes.length >= min && bytes.length <= max && bytes.toString('base64').replace(/=+$/, '') === base64;
}
