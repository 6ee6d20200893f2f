/** The members of the URL of the page: the identity, the device and the address. */
export const members = ['type', 'value', 'device', 'address'] as const;

const types = ['email', 'phone', 'username', 'external_id'] as const;
export type IdentityType = (typeof types)[number];

/** The type of identity that a text looks like. */
export function typeOf(value: string): IdentityType {
  if (value.includes('@')) return 'email';
  return /^\+?[\d\s().-]{5,}$/.test(value) ? 'phone' : 'username';
}

export const readType = (text: string | undefined): IdentityType | undefined => types.find((type) => type === text);
