import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Exports } from '../authentication/users/export.js';
import { AnyObject } from '../contract/common.js';
import { writeAll } from './streams.js';

const list = (description: string) => Type.Array(AnyObject('One of them.', 'ExportedRecord'), { description });

/** What an export holds. It is written piece by piece, so this is for the document alone. */
export const exportSchema: TSchema = Type.Object(
  {
    account: AnyObject('The user.', 'ExportedRecord'),
    devices: list('Where the user is logged in.'),
    passkeys: list('What logs in without a password, without its keys.'),
    external_identities: list('Accounts at OpenID providers that log in.'),
    logins: list('Every login that is still on record.'),
    sessions: list('Sessions that are still on record.'),
    activity: list('What happened to the account.'),
    messages: list('What was sent to the user, without codes.'),
    notifications: list('The inbox, oldest first.'),
    markers: list('Up to where it was read.'),
    mutes: list('What is not pushed.'),
    pushes: list('What was pushed lately.'),
    images: list('What the user uploaded.'),
  },
  {
    title: 'AccountExport',
    description: 'Everything that is stored of the user, but for secrets.',
    headers: { 'Content-Disposition': { type: 'string', description: 'A name for the file.' } },
  },
);

/** Milliseconds that a reader may take nothing. */
const patience = 15_000;

/** Answers with everything of a user as a file of JSON, read as it is taken. @throws Problem `not_found` */
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
    for await (const piece of pieces) if (!(await writeAll(raw, piece, patience))) return;
    raw.end();
  } catch (error) {
    // What was sent is no whole JSON, and the connection breaks: it cannot be taken for the end.
    request.log.warn({ err: error, request_id: request.id }, 'an export broke off');
    raw.destroy();
  }
}
