import { recordEvent } from '../../audit/events.js';
import { timeText } from '../../database/clock.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { Candidate } from '../../identities/accounts.js';
import { identityDigest } from '../../identities/identity.js';
import { equalBytes, type SecretKeys } from '../../lib/crypto/secret-keys.js';
import { nilId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { normalizeCode } from '../codes.js';

/**
 * The fixed codes of test identities. Each function runs the same statement for every user, so that its time shows
 * neither whether there is a user nor whether the address is a test identity.
 */
export interface TestCodes {
  /** The test identity that is in effect for an address of a user. Never one for a user with a role. */
  find(user: Candidate | undefined, type: AddressType): Promise<TestIdentityInEffect | undefined>;
  /**
   * Whether a secret is the fixed code of the test identity that was found at the start of the login, and this test
   * identity is still in effect. Records the use in the audit events.
   */
  accept(user: Candidate | undefined, type: AddressType, answer: TestAnswer): Promise<boolean>;
}

type AddressType = 'email' | 'phone';

interface TestIdentityInEffect {
  readonly id: string;
  readonly expiresAt: string;
}

interface TestAnswer {
  /** The test identity that was found at the start of the login. Undefined if a random code was sent. */
  readonly testIdentityId: string | undefined;
  readonly secret: string;
  /** What the code is for, for the audit event. */
  readonly use: Readonly<Record<string, string>>;
  readonly origin: Origin;
}

interface Row {
  readonly id: string;
  readonly encrypted_code: Buffer;
  readonly expires_at: string;
}

const findInEffect = statement<{ digest: Buffer; userId: string }, Row>(
  'test_identity_in_effect',
  (p) => sql`
  select id, encrypted_code, ${timeText(sql`expires_at`)} as expires_at
  from test_identities
  where digest = ${p.digest} and (user_id is null or user_id = ${p.userId}) and expires_at > db_now()`,
);

/** The context of the encryption of a fixed code. */
export const contextOf = (id: string) => `test-identity:${id}`;

/** Creates the check of fixed codes. */
export function createTestCodes({
  database,
  keys,
}: {
  readonly database: Database;
  readonly keys: SecretKeys;
}): TestCodes {
  async function read(user: Candidate | undefined, type: AddressType): Promise<Row | undefined> {
    const address = user?.role === 'user' ? user[type] : undefined;
    // No identity has the digest of an empty address.
    const digest = identityDigest({ type, canonical: address ?? '' });
    const [row] = await database.query(findInEffect({ digest, userId: user?.userId ?? nilId }));
    return row;
  }

  return {
    async find(user, type) {
      const row = await read(user, type);
      return row && { id: row.id, expiresAt: row.expires_at };
    },
    async accept(user, type, { testIdentityId, secret, use, origin }) {
      const row = await read(user, type);
      if (user === undefined || row === undefined || row.id !== testIdentityId) return false;
      const code = keys.decrypt(row.encrypted_code, contextOf(row.id));
      if (code === undefined || !equalBytes(Buffer.from(normalizeCode(secret)), Buffer.from(code))) return false;
      const data = { test_identity_id: row.id, ...use };
      await recordEvent(database.user(user.userId), { userId: user.userId, type: 'test_identity.used', origin, data });
      return true;
    },
  };
}
