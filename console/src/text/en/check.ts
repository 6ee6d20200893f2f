/** What a login with an identity would answer. */
export const check = {
  title: 'Check a login',
  identity: 'What they type to sign in',
  identityHint: 'Mail address, phone or username, exactly as they type it.',
  type: 'It is a',
  device: 'Device id (optional)',
  deviceHint: 'Without it: a new device.',
  address: 'Network address (optional)',
  addressHint: 'Adds the limits of this IP address.',
  ask: 'Check',
  notRead: 'The login could not be checked.',
  nobody: (value: string) =>
    `Nobody has “${value}”. The sign-in answers as for a wrong password, so that strangers learn nothing.`,
  open: (name: string) => `Open ${name}`,
  why: (value: string) => `Why can “${value}” not sign in?`,
};
