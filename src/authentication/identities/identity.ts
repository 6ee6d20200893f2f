import { domainToASCII, domainToUnicode } from 'node:url';
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js';
import type { identityTypes } from '../../contract/authentication.js';
import { isConfusable } from './confusables.js';

export type IdentityType = (typeof identityTypes)[number];

/** What a user is looked up by, in the one form that is stored, compared and shown. */
export interface Identity {
  readonly type: IdentityType;
  readonly canonical: string;
}

/** UTF-16 code units, as the contract allows for any identity. Checked first, so no other check sees a long text. */
const MAX_LENGTH = 320;
const MAX_USERNAME_CODE_POINTS = 64;
const MAX_LOCAL_PART_BYTES = 64;
const MAX_EMAIL_BYTES = 254;
/** `+` and 15 digits (ITU-T E.164). The library's lengths for some countries go beyond. */
const MAX_E164_LENGTH = 16;

/**
 * Control, format (bidi, zero width), private-use and unassigned code points, lone surrogates, and letters and marks
 * that are drawn as nothing. Unassigned ones also because only assigned ones normalise alike in every Unicode version,
 * so that a newer Node finds what an older one stored.
 */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The canonical form of an identity, so that every way to write it finds the same user:
 * usernames NFKC and case-folded, mail addresses lower case with an IDNA domain, phone numbers E.164.
 *
 * Canonical forms are fixed points: `canonicalIdentity(type, canonical)` gives `canonical` again.
 *
 * @param defaultRegion ISO 3166 code for phone numbers written without `+`; without it they have no canonical form
 * @returns undefined when the value has no canonical form: the caller answers 422 `invalid_identity`
 */
export function canonicalIdentity(type: IdentityType, value: string, defaultRegion?: string): Identity | undefined {
  const canonical = canonicalValue(type, value, defaultRegion);
  // The rules are not stable for every input (the phone library takes one trunk prefix off each time: +49 00 …): what
  // they would change or refuse once more is refused, instead of being stored where no look-up can find it.
  if (canonical === undefined || canonicalValue(type, canonical, defaultRegion) !== canonical) return undefined;
  return { type, canonical };
}

function canonicalValue(type: IdentityType, value: string, defaultRegion: string | undefined): string | undefined {
  if (value.length > MAX_LENGTH || UNSEEN.test(value)) return undefined;
  switch (type) {
    case 'username':
      return canonicalUsername(value);
    case 'email':
      return canonicalEmail(value);
    case 'phone':
      return canonicalPhone(value, defaultRegion);
  }
}

/**
 * The characters of PRECIS's UsernameCaseMapped (RFC 8265, section 3.3): letters, marks and decimal digits of any
 * script and printable ASCII, so no space and no symbol, with at least one letter or digit. No `@`: a name that is
 * somebody's mail address would be taken for them.
 */
function canonicalUsername(value: string): string | undefined {
  const name = foldCase(value.normalize('NFKC')).normalize('NFKC');
  if (!/^[\p{L}\p{Mn}\p{Mc}\p{Nd}!-?A-~]+$/u.test(name) || !/[\p{L}\p{Nd}]/u.test(name)) return undefined;
  if ([...name].length > MAX_USERNAME_CODE_POINTS || isConfusable(name)) return undefined;
  return name;
}

/**
 * Unicode's full case folding, made of what JavaScript has: up joins what differs only in capitals (ß and SS, ς and
 * σ), down again gives the lower case, and down first because ẞ has no capital of its own. By code point, since
 * toLowerCase of a whole string turns σ into ς at the end of a word.
 *
 * One step beyond Unicode: the four Turkish i become one, so that İ and ı, typed on either keyboard, find the same user.
 */
function foldCase(text: string): string {
  const folded = Array.from(text, (character) => character.toLowerCase().toUpperCase().toLowerCase()).join('');
  return folded.replaceAll('i\u0307', 'i');
}

const ATOM = /^[\p{L}\p{Mn}\p{Mc}\p{Nd}!#$%&'*+/=?^_`{|}~-]+$/u;

/**
 * The local part is lower-cased and nothing more: folding further would let a code for one mailbox be asked for through
 * another's address (`mıke` for `mike`). What NFKC would change is refused for the same reason. It is a dot-atom
 * (RFC 5322, 3.2.3, with the letters of RFC 6531), so a quoted `@` or space cannot occur.
 */
function canonicalEmail(value: string): string | undefined {
  const at = value.lastIndexOf('@');
  if (at < 1) return undefined;
  const local = value.slice(0, at).normalize('NFC').toLowerCase().normalize('NFC');
  const domain = canonicalDomain(value.slice(at + 1));
  if (domain === undefined || local !== local.normalize('NFKC') || isConfusable(local)) return undefined;
  if (!local.split('.').every((atom) => ATOM.test(atom))) return undefined;
  if (Buffer.byteLength(local) > MAX_LOCAL_PART_BYTES) return undefined;
  const email = `${local}@${domain}`;
  return Buffer.byteLength(email) > MAX_EMAIL_BYTES ? undefined : email;
}

/** ASCII labels of letters, digits and inner hyphens, at least two, the last one not a number: no address literals. */
function canonicalDomain(value: string): string | undefined {
  // domainToASCII reads like a URL parser: it decodes %, and cuts at / without a word.
  if (/[^\P{ASCII}A-Za-z0-9.-]/u.test(value)) return undefined;
  const labels = domainToASCII(value).split('.');
  const wellFormed = labels.every(
    (label) => /^[a-z0-9-]{1,63}$/.test(label) && !/^-|-$/.test(label) && isDecodable(label),
  );
  return wellFormed && labels.length > 1 && /^[a-z]/.test(labels.at(-1) ?? '') ? labels.join('.') : undefined;
}

/** Whether punycode stands for something. Of broken punycode some versions of Node make nothing, others let it pass. */
function isDecodable(label: string): boolean {
  return !label.startsWith('xn--') || /[^\0-\x7f]/.test(domainToUnicode(label));
}

/**
 * Possible numbers, not only assigned ones: which ranges are assigned changes faster than the library is updated, and
 * fictitious ones (+1 555 …) serve tests and app-store review. Letters and extensions never reach a phone.
 */
function canonicalPhone(value: string, defaultRegion: string | undefined): string | undefined {
  const text = value.normalize('NFKC');
  if (!/^\+?[0-9\u0660-\u0669\u06F0-\u06F9 ()./\u2010-\u2013-]+$/u.test(text)) return undefined;
  const known = defaultRegion !== undefined && isSupportedCountry(defaultRegion);
  const number = parsePhoneNumberFromString(text, { ...(known && { defaultCountry: defaultRegion }), extract: false });
  return number?.isPossible() && number.number.length <= MAX_E164_LENGTH ? number.number : undefined;
}
