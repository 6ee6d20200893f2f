/**
 * A list of passwords that became known in leaks (NIST SP 800-63B-4, 3.1.1.2; ASVS 5.0, 6.2.12). A new password that is in
 * it is refused; a login never looks into it.
 */
export interface BreachedPasswords {
  /**
   * Never throws. A list that cannot be asked knows of nothing: an answer that is missing must not keep people from setting
   * passwords, and the common ones are refused without it.
   *
   * @param password in NFC
   */
  contains(password: string): Promise<boolean>;
}
