/**
 * A list of passwords that leaked (NIST SP 800-63B-4, 3.1.1.2; ASVS 5.0, 6.2.12). A new password on the list is refused.
 * Logins do not consult it.
 */
export interface BreachedPasswords {
  /**
   * Never throws. Undefined: the list is unavailable.
   *
   * @param password in NFC
   */
  contains(password: string): Promise<boolean | undefined>;
}
