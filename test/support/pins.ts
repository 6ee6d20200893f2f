import { createPasswordHasher } from '../../src/credentials/passwords.js';
import { createPins } from '../../src/credentials/pins/pins.js';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';

/** The stored hash of a PIN, which needs its secret key. */
export const pinHashOf = (secretKey: string, userId: string): Promise<string> =>
  createPins({ hasher: createPasswordHasher({ concurrency: 1 }), keys: createSecretKeys([secretKey]) }).hash(
    userId,
    '2468',
    null,
  );
