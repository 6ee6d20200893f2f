/** The check of a login: the answer that a login with an identity would get. */
export const check = {
  title: 'Check a sign-in',
  identity: 'What the user types to sign in',
  identityHint: 'Mail address, phone or username, exactly as the user types it.',
  type: 'Type of identity',
  device: 'Device id (optional)',
  deviceHint: 'If it is empty, the check assumes a new device.',
  address: 'Network address (optional)',
  addressHint: 'Adds the limits of this IP address.',
  ask: 'Check',
  notRead: 'The sign-in could not be checked.',
  nobody: (value: string) =>
    `No user has “${value}”. A sign-in with it gets the same answer as a wrong password, so that attackers learn nothing.`,
  open: (name: string) => `Open ${name}`,
  why: (value: string) => `Why can “${value}” not sign in?`,
};
