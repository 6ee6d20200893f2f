/** The dialogs that change a user. */
export const userDialogs = {
  save: 'Save',
  saved: 'Saved.',
  show: 'Show',
  generate: 'Generate',
  notJson: 'This must be a JSON object.',
  changedByOthers: (now: string) =>
    now === ''
      ? 'Somebody removed this in the meantime. Save again to set your value.'
      : `Somebody changed this to “${now}” in the meantime. Save again to overwrite that change.`,
  until: 'Until',
  untilTime: 'Until a time…',
  yourTime: 'In your time zone.',
  lockInstead: 'If the user must not log in for some time only, lock the user instead.',
  edit: 'Edit…',
  editAddresses: 'Addresses…',
  set: 'Set…',
  change: 'Change…',
  remove: 'Remove…',
  cancel: 'Cancel…',
  of: (verb: string, what: string) => `${verb} ${what}`,
  profile: {
    title: (name: string) => `Edit ${name}`,
    name: 'Name',
    externalIdHint:
      'The id of this user in your systems. Users cannot log in with it. The API accepts it as external:…',
    localeHint: 'A language tag, such as en or es-MX. If it is empty, the language of the client applies.',
    metadataHint: 'A JSON object with your own data about the user.',
  },
  addresses: {
    title: (name: string) => `Addresses of ${name}`,
    what: 'The user logs in with these. Postern sends codes to the mail address and to the phone number. To remove a value, clear its field.',
    phoneHint: 'With the country code, such as +44 20 7946 0123',
    removes: (names: readonly string[]) =>
      `This removes: ${names.join(', ')}. The user can then no longer log in with them.`,
  },
  password: {
    title: (name: string) => `Set the password of ${name}`,
    what: 'Every login and session of the user ends. Tell the user the new password: Postern does not send it. It works for one sign-in, at which the user chooses another.',
    label: 'New password',
    done: 'The password is set. Every login of the user has ended.',
  },
  noPassword: {
    title: (name: string) => `Remove the password of ${name}?`,
    what: 'The user cannot log in with a password until somebody sets a new one. Every login and session of the user ends.',
    action: 'Remove',
    done: 'The password is removed.',
  },
  pin: {
    title: (name: string) => `Set the PIN of ${name}`,
    what: 'The old PIN no longer works. Existing logins keep working.',
    label: 'New PIN',
    hint: '4 to 12 digits.',
    done: 'The PIN is set.',
  },
  noPin: {
    title: (name: string) => `Remove the PIN of ${name}?`,
    what: 'New logins of this user no longer check a PIN. Existing logins keep working.',
    action: 'Remove',
    done: 'The PIN is removed.',
  },
  pinRecovery: {
    title: (name: string) => `Cancel the new PIN of ${name}?`,
    what: 'Somebody used a code of this account to choose a new PIN. Postern discards the new PIN, and the current PIN stays valid.',
    action: 'Cancel the new PIN',
    done: 'The new PIN is cancelled.',
  },
  noFactors: {
    title: (name: string) => `Remove the second factors of ${name}?`,
    what: 'The authenticator app, all passkeys and the recovery codes are removed. Existing logins keep working.',
    action: 'Remove',
    done: 'The second factors are removed.',
  },
  policy: {
    title: (name: string) => `Second factor of ${name}`,
    label: 'Logins ask for a second factor',
    values: {
      byDefault: 'As in the settings of Postern',
      off: 'Never',
      own: 'If the user has an authenticator app',
      required: 'If the user has an app or a passkey',
    },
  },
  link: {
    title: (name: string) => `Link an account to ${name}`,
    what: 'The user can then also log in with this account.',
    provider: 'Provider',
    subject: 'Id of the account',
    subjectHint: 'The id of the account at the provider: “sub” in the tokens of the provider.',
    action: 'Link',
    done: (provider: string) => `The account at ${provider} is linked.`,
  },
  unlink: {
    title: (provider: string, name: string) => `Unlink the account at ${provider} from ${name}?`,
    what: 'The user can no longer log in with it. Existing logins keep working. To end them, log the user out.',
    action: 'Unlink',
    done: (provider: string) => `The account at ${provider} is unlinked.`,
  },
  role: {
    open: 'Change the role…',
    title: (name: string) => `Role of ${name}`,
    rights: {
      user: 'Has no rights in the console.',
      support: 'Can find, lock and change users who have no role, and publish notifications.',
      operator: 'Can do everything, including roles, keys, the audit trail and the system.',
    },
    needsLink:
      'The role takes effect after the user opens the link that you create next, and enrols or confirms a second factor.',
    done: (name: string, role: string) => `The role of ${name} is now ${role}.`,
  },
  activation: {
    open: 'Activation link…',
    title: (name: string) => `Activation link for ${name}`,
    what: 'The user opens the link, signs in, and enrols or confirms a second factor. Then the role takes effect. A new link replaces the earlier link.',
    action: 'Create the link',
    link: 'The link (shown only once)',
    until: (time: string) => `Valid until ${time}, and only for this user.`,
    done: 'I have copied the link',
  },
  accounts: {
    title: 'Accounts at providers',
    none: 'No account is linked.',
    link: 'Link…',
    unlink: 'Unlink…',
    since: (time: string) => `linked ${time}`,
  },
  factor: {
    notSet: 'not set',
    second: 'Second factor',
    pinChanges: (time: string) => `a new PIN takes effect ${time}`,
  },
};
