import { type MessageChannel, messageChannels } from '../../contract/administration.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { Database } from '../../database/database.js';
import { type Identity, identityDigest } from '../../identities/identity.js';
import { readMessageLimits, readRequestLimits, type UsedUpLimit } from '../../limits/limit-states.js';
import { overLimitProblem, type RequestLimits } from '../../limits/request-limits.js';
import { hasFailed, lastCodeTo } from '../../messages/last-code.js';
import type { SmsAdmission } from '../../messages/sms-admission.js';
import { addressTypeOf, recipientBy } from '../authenticators/code.js';
import { blocker, type Check, type Finding, note, refusalWith } from './finding.js';
import { remedies } from './remedies.js';
import type { Subject } from './subject.js';

/** The channel of a built-in authenticator that sends codes. */
export function channelOf(authenticator: string): MessageChannel | undefined {
  return messageChannels.find((channel) => channel === authenticator);
}

/** The rules for the code of a login. */
export interface CodeChecks {
  /** Limits that refuse the start of the login. */
  readonly start: readonly Check[];
  /** Limits that the login conceals: the code is not sent. */
  readonly notSent: readonly Finding[];
  readonly notes: readonly Finding[];
}

const none: CodeChecks = { start: [], notSent: [], notes: [] };

/** @param identity undefined if the account has none: then there is no login with a code */
export async function checkCode(
  parts: {
    readonly database: Database;
    readonly limits: RequestLimits;
    readonly testCodes: TestCodes;
    readonly smsAdmission: Pick<SmsAdmission, 'predict'>;
  },
  subject: Subject,
  login: {
    readonly authenticator: string;
    readonly identity: Identity | undefined;
    readonly address: string | undefined;
  },
): Promise<CodeChecks> {
  const { database, limits, testCodes, smsAdmission } = parts;
  const { identity, address } = login;
  const channel = channelOf(login.authenticator);
  if (channel === undefined || identity === undefined) return none;
  const { userId, user, knownDevice } = subject;
  const { counts } = limits;
  const recipient = user === undefined || user.isDeactivated ? undefined : recipientBy(channel, user.account);
  const [ofIdentity, ofRecipient] = await readMessageLimits(database, [
    counts.messagesOf(identityDigest(identity), knownDevice),
    counts.messagesTo({ userId, address: recipient, knownDevice }),
  ]);
  const requestLimits = [counts.smsOfPrefix(identity), counts.smsInTotal];
  if (address !== undefined) requestLimits.push(counts.messagesFrom(address).count);
  const queries = requestLimits.map((count) => ({ ...count, position: 1 }));
  const [ofPrefix, inTotal, ofAddress] = await readRequestLimits(database, queries);

  const start: Check[] = [];
  const refuse = (finding: Finding, limit: UsedUpLimit) => {
    const problem = overLimitProblem(limit.wait);
    if (problem !== undefined) start.push({ finding, refusal: refusalWith(problem), concernsEveryWay: false });
  };
  const limited = (setting: string, { until }: UsedUpLimit) => ({ until, remedies: [remedies.configure(setting)] });
  if (ofAddress !== undefined) {
    refuse(blocker('address_code_limit', limited('CODE_LIMIT_PER_ADDRESS', ofAddress)), ofAddress);
  }
  if (ofIdentity !== undefined) {
    const { since, until, window } = ofIdentity;
    refuse(blocker(`code_limit_${window}`, { since, until }), ofIdentity);
  }
  const test = recipient === undefined ? undefined : await testCodes.find(user?.account, addressTypeOf(channel));
  // A login of a test identity accepts the fixed code, so it needs no message.
  if (test !== undefined) return { start, notSent: [], notes: [note('test_identity', { until: test.expiresAt })] };
  const notSent: Finding[] = [];
  if (ofRecipient !== undefined && ofIdentity === undefined) {
    notSent.push(blocker('recipient_limit', { since: ofRecipient.since, until: ofRecipient.until }));
  }
  if (channel === 'sms') {
    if (ofPrefix !== undefined) notSent.push(blocker('sms_prefix_limit', limited('SMS_LIMIT_PER_PREFIX', ofPrefix)));
    const refusal = recipient === undefined ? undefined : await smsAdmission.predict(recipient);
    if (refusal?.cause === 'country') {
      notSent.push(blocker('sms_country_off', { remedies: [remedies.configure('SMS_COUNTRIES')] }));
    }
    if (refusal?.cause === 'paused') notSent.push(blocker('sms_prefix_paused', { until: refusal.until }));
    if (inTotal !== undefined) notSent.push(blocker('sms_total_limit', limited('SMS_LIMIT_TOTAL', inTotal)));
  }
  return { start, notSent, notes: await failureOf(database, userId, channel, recipient) };
}

async function failureOf(
  database: Database,
  userId: string,
  channel: MessageChannel,
  recipient: string | undefined,
): Promise<Finding[]> {
  if (recipient === undefined) return [];
  const last = await lastCodeTo(database.user(userId), { userId, channel, recipient });
  if (last === undefined || !hasFailed(last)) return [];
  const { id, state, attempts, error, updatedAt: since } = last;
  const data = { message_id: id, state, attempts, ...(error !== null && { error }) };
  const retry = last.canBeRetried ? [remedies.retryMessage(id)] : [];
  return [note('last_message_failed', { since, data, remedies: retry })];
}
