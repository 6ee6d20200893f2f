/** The texts of the logins of operators. They load with the section. */
export const english = {
  support_pending: 'Waits for your answer until {time}',
  support_allowed: 'Allowed until {time}',
  support_active: 'Signed in until {time}',
  support_refused: 'Refused',
  support_ended: 'Ended',
  support_expired: 'Expired',
  support_reads: 'only looks',
  support_writes: 'may change something',
  allow: 'Allow',
  refuse: 'Refuse',
  end: 'End',
  allow_support: 'Let the support team sign in?',
  allow_support_hint:
    'For 30 minutes, somebody of the support team sees your account as you do. They cannot change your password, your addresses or your devices. You can end it at any time.',
  allow_support_writes: 'They may change other things for you.',
  refuse_support: 'Refuse the support team?',
  refuse_support_hint: 'Nobody signs in. They can ask again.',
  end_support: 'End the sign-in of the support team?',
  end_support_hint: 'They are signed out of your account at once.',
};

export type SupportTexts = { readonly [K in keyof typeof english]: string };
