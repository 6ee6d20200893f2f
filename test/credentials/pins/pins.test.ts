import { describe, expect, it } from 'vitest';
import { createPasswordHasher } from '../../../src/credentials/passwords.js';
import { createPins } from '../../../src/credentials/pins/pins.js';
import { createSecretKeys } from '../../../src/lib/crypto/secret-keys.js';

const [oldKey, newKey] = ['o'.repeat(32), 'n'.repeat(32)];
const ada = '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11';
const bob = '4b3ba41c-5a2f-4c53-a1b8-2f5f0a9c1b77';
const hasher = createPasswordHasher();
const pinsWith = (...secrets: string[]) => createPins({ hasher, keys: createSecretKeys(secrets) });

describe('pins', () => {
  it('accept only the correct PIN of the correct user', async () => {
    const pins = pinsWith(oldKey);
    const stored = await pins.hash(ada, '2468', null);
    expect(stored).toMatch(/^k[0-9a-f]{8}\$argon2id\$v=19\$/);
    expect(stored).not.toContain('2468');
    expect(await pins.verify(stored, ada, '2468', null)).toBe(true);
    expect(await pins.verify(stored, ada, '2469', null)).toBe(false);
    expect(await pins.verify(stored, bob, '2468', null)).toBe(false);
  });

  it('are refused without a hash or without a user', async () => {
    const pins = pinsWith(oldKey);
    expect(await pins.verify(undefined, undefined, '2468', null)).toBe(false);
    expect(await pins.verify(undefined, ada, '2468', null)).toBe(false);
    expect(await pins.verify(await pins.hash(ada, '2468', null), undefined, '2468', null)).toBe(false);
  });

  it('stay valid after a key rotation while the old key is listed', async () => {
    const stored = await pinsWith(oldKey).hash(ada, '2468', null);
    expect(await pinsWith(newKey, oldKey).verify(stored, ada, '2468', null)).toBe(true);
    expect(await pinsWith(newKey).verify(stored, ada, '2468', null)).toBe(false);
    const rehashed = await pinsWith(newKey, oldKey).hash(ada, '2468', null);
    expect(await pinsWith(newKey).verify(rehashed, ada, '2468', null)).toBe(true);
  });

  it('cannot be guessed from a database dump alone, since the hash is peppered', async () => {
    const stored = await pinsWith(oldKey).hash(ada, '2468', null);
    const phc = stored.slice(stored.indexOf('$'));
    for (const guess of ['2468', `${ada}:2468`]) expect(await hasher.verify(phc, guess, null)).toBe(false);
  });
});
