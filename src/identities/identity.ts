import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js';
import { identityTypes } from '../contract/authentication.js';
import { maxExternalIdLength } from '../contract/common.js';
import { sha256 } from '../lib/crypto/digests.js';
import { asciiLabels } from '../lib/domain-labels.js';
import { isConfusable } from './confusables.js';
import { withAsciiDigits } from './digits.js';

/** A type of identity: `username`, `email` or `phone`. */
export type IdentityType = (typeof identityTypes)[number];

/** A name by which a user is looked up, in its canonical form: the only form that is stored and compared. */
export interface Identity {
  readonly type: IdentityType;
  readonly canonical: string;
}

/**
 * The type of a row of `identities`. No login takes an `external_id`: it names a user only in
 * admin requests.
 */
export type DirectoryType = IdentityType | 'external_id';
/** All of them, in the order in which errors are reported. */
export const directoryTypes: readonly DirectoryType[] = [...identityTypes, 'external_id'];

/** A row of `identities`: an identity, or the external id of a user. */
export interface DirectoryEntry {
  readonly type: DirectoryType;
  readonly canonical: string;
}

/** UTF-16 code units: the limit of the contract. Checked first, so that no other check sees a long text. */
const maxLength = 320;
const maxUsernameCodePoints = 64;
const maxLocalPartBytes = 64;
const maxEmailBytes = 254;
/** `+` and 15 digits (ITU-T E.164). The library allows longer numbers for some countries. */
const maxPhoneLength = 16;

/**
 * Control, format (bidi, zero width), private-use and unassigned code points, lone surrogates, and invisible letters and
 * marks. The normal form of unassigned code points may change with the Unicode version of Node.js, so a newer Node.js
 * might not find the identities that an older one stored.
 */
const invisibleCharacters = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;

/**
 * White space and invisible marks around a text, as they are copied with it: byte order marks, marks of direction. Not the
 * right-to-left override: the text after it is shown backwards, so it means something else than it shows.
 */
const surroundings =
  /^(?:(?!\u202e)[\s\p{Cf}\p{Default_Ignorable_Code_Point}])+|(?:(?!\u202e)[\s\p{Cf}\p{Default_Ignorable_Code_Point}])+$/gu;

/**
 * Brings an identity into its canonical form, so that every spelling finds the same user. Usernames are NFKC and
 * case-folded, mail addresses are lower case with an IDNA domain, phone numbers are E.164.
 *
 * Canonical forms are fixed points: `canonicalIdentity(type, canonical)` returns `canonical` again.
 *
 * @param defaultRegion ISO 3166 code for phone numbers without `+`. Without a region they have no canonical form.
 * @returns undefined when the value has no canonical form: the caller answers 422 `invalid_identity`
 */
export function canonicalIdentity(type: IdentityType, value: string, defaultRegion?: string): Identity | undefined {
  const canonical = canonicalValue(type, value, defaultRegion);
  // The rules are not stable for every input: the phone library removes one trunk prefix at a time (+49 00 …). An unstable
  // value is refused, because no look-up would find it.
  if (canonical === undefined || canonicalValue(type, canonical, defaultRegion) !== canonical) return undefined;
  return { type, canonical };
}

function canonicalValue(type: IdentityType, value: string, defaultRegion: string | undefined): string | undefined {
  if (value.length > maxLength) return undefined;
  switch (type) {
    case 'username':
      return invisibleCharacters.test(value) ? undefined : canonicalUsername(value);
    case 'email': {
      const address = value.replace(surroundings, '');
      return invisibleCharacters.test(address) ? undefined : canonicalEmail(address);
    }
    case 'phone':
      return canonicalPhone(value, defaultRegion);
  }
}

/**
 * The external id of a user, in its only form: NFC, and otherwise as it was sent. Upper and lower case are different
 * ids, as in SCIM (RFC 7643, 3.1: `caseExact`), because the ids of most systems are case-sensitive.
 * @returns undefined for an id that is empty or too long, has invisible characters, or begins or ends with a space
 */
export function canonicalExternalId(value: string): DirectoryEntry | undefined {
  const canonical = value.normalize('NFC');
  const isVisible =
    !invisibleCharacters.test(canonical) && canonical.trim() === canonical && !/[\p{Zl}\p{Zp}]/u.test(canonical);
  const isLong = value.length > maxExternalIdLength || canonical.length > maxExternalIdLength;
  return canonical === '' || isLong || !isVisible ? undefined : { type: 'external_id', canonical };
}

/**
 * Allows the characters of PRECIS UsernameCaseMapped (RFC 8265, section 3.3): letters, marks and decimal digits of any
 * script, and printable ASCII without space. At least one letter or digit is required. `@` is refused, because a username
 * that is a mail address would be mistaken for the owner of that address.
 */
function canonicalUsername(value: string): string | undefined {
  const name = foldCase(value.normalize('NFKC')).normalize('NFKC');
  if (!/^[\p{L}\p{Mn}\p{Mc}\p{Nd}!-?A-~]+$/u.test(name) || !/[\p{L}\p{Nd}]/u.test(name)) return undefined;
  if ([...name].length > maxUsernameCodePoints || isConfusable(name)) return undefined;
  return name;
}

/**
 * Full case folding of Unicode: lower case, upper case, lower case. Upper case makes letters with the same capital equal
 * (ß and SS, ς and σ). It works by code point, because toLowerCase of a whole string turns σ into ς at the end of a word.
 * Beyond Unicode, the four letters i of Turkish become one, so that İ and ı find the same user on every keyboard.
 */
function foldCase(text: string): string {
  const folded = Array.from(text, (character) => character.toLowerCase().toUpperCase().toLowerCase()).join('');
  return folded.replaceAll('i\u0307', 'i');
}

/** Mobile operators of Japan whose addresses may have dots in a row and before the @, quoted or not. */
const freeDots = new Set(['docomo.ne.jp', 'ezweb.ne.jp', 'au.com']);

const dotAtomPart = /^[\p{L}\p{Mn}\p{Mc}\p{Nd}!#$%&'*+/=?^_`{|}~-]+$/u;

/**
 * The local part is only lower-cased. Case folding would join addresses of different mailboxes (`mıke` and `mike`), and
 * a code could go to the wrong one. For the same reason, a local part that NFKC would change is refused. It must be a
 * dot-atom (RFC 5322, 3.2.3, with the letters of RFC 6531), so that it contains no quoted `@` and no space.
 */
function canonicalEmail(value: string): string | undefined {
  const atIndex = value.lastIndexOf('@');
  if (atIndex < 1) return undefined;
  const domain = canonicalDomain(value.slice(atIndex + 1));
  const hasFreeDots = freeDots.has(domain ?? '');
  const written = value.slice(0, atIndex).replace(hasFreeDots ? /^"(.*)"$/ : /^$/, '$1');
  const local = written.normalize('NFC').toLowerCase().normalize('NFC');
  if (domain === undefined || local !== local.normalize('NFKC') || isConfusable(local)) return undefined;
  const atoms = local.split('.').filter((atom, index) => atom !== '' || index === 0 || !hasFreeDots);
  if (!atoms.every((atom) => dotAtomPart.test(atom))) return undefined;
  if (Buffer.byteLength(local) > maxLocalPartBytes) return undefined;
  const email = `${local}@${domain}`;
  return Buffer.byteLength(email) > maxEmailBytes ? undefined : email;
}

/** At least two ASCII labels of letters, digits and inner hyphens. The last one starts with a letter: no IP addresses. */
function canonicalDomain(value: string): string | undefined {
  // A URL parser decodes % and silently cuts the text at /.
  if (/[^\P{ASCII}A-Za-z0-9.-]/u.test(value)) return undefined;
  const labels = asciiLabels(value);
  return labels !== undefined && labels.length > 1 && /^[a-z]/.test(labels.at(-1) ?? '') ? labels.join('.') : undefined;
}

/**
 * Accepts possible numbers, not only assigned ones: assignments change faster than the library is updated, and fictitious
 * numbers (+1 555 …) are useful for tests and app-store reviews. Letters and extensions are refused.
 */
function canonicalPhone(value: string, defaultRegion: string | undefined): string | undefined {
  const text = withAsciiDigits(value.replaceAll(/(?!\u202e)[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')).trim();
  if (!/^\+?[0-9 ()./\u2010-\u2015\u2212-]+$/u.test(text)) return undefined;
  const hasRegion = defaultRegion !== undefined && isSupportedCountry(defaultRegion);
  const number = parsePhoneNumberFromString(text, {
    ...(hasRegion && { defaultCountry: defaultRegion }),
    extract: false,
  });
  const e164 = number?.number.replace(formerMexicanMobile, '+52');
  if (e164 === undefined || e164.length > maxPhoneLength) return undefined;
  return e164 === number?.number && !number.isPossible() ? undefined : e164;
}

/** Until 2019, callers from abroad dialled a 1 before the ten digits of a mobile phone in Mexico. */
const formerMexicanMobile = /^\+521(?=\d{10}$)/;

/** The canonical form of an identity or an external id: see `canonicalIdentity`. */
export function canonicalEntry(
  type: DirectoryType,
  value: string,
  defaultRegion: string | undefined,
): DirectoryEntry | undefined {
  return type === 'external_id' ? canonicalExternalId(value) : canonicalIdentity(type, value, defaultRegion);
}

/** The key of a row of `identities`: SHA-256 of its type and canonical value. */
export function identityDigest({ type, canonical }: DirectoryEntry): Buffer {
  return sha256(`${type}\n${canonical}`);
}

/** A part of a mail address or a phone number: enough for its owner to recognise it. */
export function maskAddress({ type, canonical }: Pick<Identity, 'canonical'> & { type: 'email' | 'phone' }): string {
  if (type === 'phone') return `${canonical.slice(0, 3)}…${canonical.slice(-2)}`;
  const [first = ''] = canonical;
  return `${first}…${canonical.slice(canonical.lastIndexOf('@'))}`;
}
