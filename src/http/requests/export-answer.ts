import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { AnyObject } from '../../contract/common.js';
import type { Exports } from '../../users/export.js';
import { writeAll } from './streams.js';

const list = (description: string) => Type.Array(AnyObject('One of them.', 'ExportedRecord'), { description });

/** The content of an export. Only the OpenAPI document uses this schema: the handler writes the export in parts. */
export const exportSchema: TSchema = Type.Object(
  {
    account: AnyObject('The account.', 'ExportedRecord'),
    devices: list('The devices of the user.'),
    passkeys: list('The passkeys, without their keys.'),
    external_identities: list('The linked accounts at OpenID providers.'),
    apps: list('The apps that the user has allowed to sign in with the login of the pages.'),
    support_logins: list('The logins of operators as the user.'),
    logins: list('All stored logins.'),
    sessions: list('All stored sessions.'),
    activity: list('The events of the account.'),
    messages: list('The messages to the user, without codes.'),
    mail_reports: list('What providers of mail reported about mails to the user.'),
    suppressions: list('Why the mail address of the user gets no mail except codes, if so.'),
    notifications: list('The inbox, oldest first.'),
    markers: list('The read position.'),
    notification_states: list('The states of single notifications.'),
    mutes: list('The mutes.'),
    subscriptions: list('The topics to which the user is subscribed.'),
    preferences: list('What the user has chosen about notifications, and when.'),
    category_caps: list('Which notifications count for the caps of their categories.'),
    digests: list('The digests of the user: where each begins, and when it is sent.'),
    pushes: list('Recent pushes.'),
    notification_messages: list('Mails and SMS of notifications.'),
    images: list("The user's uploads."),
  },
  {
    title: 'AccountExport',
    description: 'All stored data of the user, except secrets.',
    headers: { 'Content-Disposition': { type: 'string', description: 'A name for the file.' } },
  },
);

/** The maximum time without progress of the reader, in milliseconds. */
const writeTimeoutMs = 15_000;

/** Streams all data of a user as a JSON file, as fast as the client reads it. @throws Problem `not_found` */
export async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  exports: Exports,
  userId: string,
): Promise<void> {
  const pieces = await exports.open(userId, async () => request.authorized.recheck?.());
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': `attachment; filename="account-${userId}.json"`,
  });
  try {
    // False: the client is gone, or does not read, and the connection is closed.
    for await (const piece of pieces) if (!(await writeAll(raw, piece, writeTimeoutMs))) return;
    raw.end();
  } catch (error) {
    // The JSON is incomplete and the connection is reset, so the client cannot take it for the whole export.
    request.log.warn({ err: error, request_id: request.id }, 'an export broke off');
    raw.destroy();
  }
}
