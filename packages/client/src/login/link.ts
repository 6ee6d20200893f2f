/** The content of a link in a mail with a code. */
export interface MailedCode {
  /** The id of the login: `id` of its step `code`. */
  readonly id: string;
  readonly code: string;
}

/**
 * Reads the link of a mail (`LOGIN_LINK=on`) in the page that `link_to` names. Null for other addresses. Send the code only if this browser
 * has begun the login with this `id`. Otherwise show the code, because the user may have opened the mail on another device.
 *
 * @example
 * ```ts
 * import { readLoginLink } from '@postern/client';
 *
 * declare const address: string; // of the page, with what follows #
 *
 * const link = readLoginLink(address);
 * if (link) console.log(`The code of the login ${link.id} is ${link.code}.`);
 * ```
 */
export function readLoginLink(address: string): MailedCode | null {
  const [, id, code] = /#([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{6})$/.exec(address) ?? [];
  return id !== undefined && code !== undefined ? { id, code } : null;
}
