/**
 * The texts of errors, by the codes of problems and of fields. They are loaded with the first error, so the service's own sentences,
 * which may be in another language, never reach a page.
 */
export const english = {
  problem_account_locked: 'This account is locked. The people who run this service can unlock it.',
  problem_account_temporarily_locked: 'Too many attempts. Try again later.',
  problem_account_unusable: 'This account was closed.',
  problem_address_blocked: 'This service refuses requests from your network.',
  problem_authenticator_unavailable: 'This does not work right now. Try again later, or use another way.',
  problem_authorization_rejected: 'That is wrong or has expired. Try again.',
  problem_code_rejected: 'That code is wrong or has expired. Check it, or get a new one.',
  problem_external_identity_rejected: 'The account could not be linked. Try again.',
  problem_external_identity_taken: 'This account is linked to another user already.',
  problem_insufficient_scope: 'You may not do that.',
  problem_identity_taken: 'Another account already uses this. Enter another one.',
  problem_last_way_in: 'This is your only way to sign in. Add another one first.',
  problem_not_found: 'This does not exist any more. Reload the page.',
  problem_proof_rejected: 'That is wrong or has expired. Try again.',
  problem_registration_off: 'You cannot create an account here yourself.',
  problem_too_many_requests: 'Too many attempts. Try again later.',
  problem_validation_failed: 'Check what you have entered.',
  field_password_wrong: 'That is not your current password.',
  field_code_used: 'This code was used already. Wait until your app shows the next one.',
  field_identity_taken: 'Another account already uses this. Enter another one.',
  field_invalid_characters: 'This contains characters that are not allowed.',
  field_invalid_format: 'This does not have the expected form.',
  field_invalid_identity: 'This is not valid. Check it.',
  field_invalid_pin: 'A PIN has 4 to 12 digits.',
  field_password_breached: 'This password is in a public leak of passwords. Choose another one.',
  field_password_not_checked: 'This password cannot be checked right now. Try again later.',
  field_password_unchanged: 'This is the password that must be changed. Choose another one.',
  field_password_too_common: 'This password is too common. Choose another one.',
  field_password_too_personal:
    'This is your own name or address, or the name of this service. Choose another password.',
  field_required: 'Fill in this field.',
  field_too_long: 'This is too long.',
  field_too_many_bytes: 'This is too long.',
  field_too_short: 'This is too short.',
};

export type ErrorTexts = { readonly [K in keyof typeof english]: string };
