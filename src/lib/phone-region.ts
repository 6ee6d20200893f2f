import { parsePhoneNumberFromString } from 'libphonenumber-js';

/**
 * The region (ISO 3166-1 alpha-2) of a number in E.164. It is certain only if the number is in use. Otherwise it is the main
 * region of the country code. Undefined for a code that no region has.
 */
export function regionOf(phone: string): string | undefined {
  const number = parsePhoneNumberFromString(phone);
  return number?.country ?? number?.getPossibleCountries()[0];
}
