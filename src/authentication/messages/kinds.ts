/** What a code is for. In the outbox a message's kind is `<channel>.<this>`, such as `sms.code`. */
export const codeKinds = {
  code: 'Logging in.',
  proof_code: 'Proving oneself once more before something of the account is changed.',
  address_code: 'Proving a new mail address or phone number.',
  recovery_code: 'Recovering a forgotten password or PIN.',
  registration_code: 'Registering.',
  registration_taken: 'Telling who has an address that somebody tried to register with it. It shows no code.',
} as const;
export type CodeKind = keyof typeof codeKinds;
