import type { MailMessage } from '../../messages/mail-sender.js';
import { ProviderError } from '../providers/provider-error.js';

/** The sender of mails. */
export interface MailSenderAddress {
  /** The display name; may be empty. */
  readonly name: string;
  readonly address: string;
}

/** What all mails of a service have in common. */
export interface MailOrigin {
  readonly from: MailSenderAddress;
  /** The logo (PNG), which mails show by its content id. */
  readonly logo?: { readonly png: Buffer; readonly contentId: string } | undefined;
}

/** One unquoted mailbox (RFC 5321, 4.1.2). Libraries and providers would read a text with a comma as several addresses. */
const plainAddress = /^[^\s\p{Cc}@,;:<>()[\]"\\]+@[^\s\p{Cc}@,;:<>()[\]"\\]+$/u;

/** @throws ProviderError if the recipient is not a single plain address */
export function demandPlainRecipient(provider: string, { to }: MailMessage): void {
  if (!plainAddress.test(to)) throw new ProviderError(provider, 'invalid', 'the recipient is not a plain mail address');
}

/** The headers that each provider gets with a mail. */
export function headersOf({ id, headers }: MailMessage, { from }: MailOrigin) {
  return {
    ...headers,
    'Message-ID': `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    // RFC 3834, 5: automatic responders, such as out-of-office replies, do not answer.
    'Auto-Submitted': 'auto-generated',
  };
}

/** The sender as a header (RFC 5322, 3.4), for interfaces that encode other letters than ASCII themselves. */
export function fromHeader({ name, address }: MailSenderAddress): string {
  return name === '' ? address : `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`;
}

/** The file of the logo. It is a part of the mail, because programs load no images from servers before the reader agrees. */
export const logoFile = { filename: 'logo.png', contentType: 'image/png' } as const;

/** Postmark returns the values of such headers in its events. */
export const postmarkHeader = 'X-PM-Metadata-postern-id';

/** A mail as nodemailer takes it. */
export function composedMail(
  message: MailMessage,
  origin: MailOrigin,
  moreHeaders: Readonly<Record<string, string>> = {},
) {
  const { to, subject, text, html } = message;
  const { from, logo } = origin;
  const { 'Message-ID': messageId, ...headers } = headersOf(message, origin);
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [quotedIfNeeded(to)] },
    subject,
    text,
    html,
    attachments:
      logo === undefined
        ? []
        : [{ ...logoFile, content: logo.png, cid: logo.contentId, contentDisposition: 'inline' as const }],
    messageId,
    headers: { ...headers, ...moreHeaders },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Some mobile carriers give their users addresses with dots in a row or before the @. In SMTP they are quoted (RFC 5321, 4.1.2). */
function quotedIfNeeded(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  return /\.\.|\.$/.test(local) ? `"${local}"${address.slice(at)}` : address;
}
