import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type {
  DryRun,
  DryRunPush,
  GetUserPageData,
  GetUserPageResponse,
  TryNotificationsData,
  User,
} from '../../api/schema.js';
import type { Content } from './content.js';
import type { Recipient } from './read-ids.js';

/** Who would get a notification, and where. */
export interface Report {
  /** The users who would get it. */
  readonly people: readonly Person[];
  /** Ids and addresses that no user has. */
  readonly unknown: readonly Recipient[];
  readonly push: DryRun['push'];
  /** How many mails and SMS have each decision. */
  readonly steps: DryRun['steps'];
  /** The time at which the check ended. */
  readonly endedAt: string;
}

export interface Person {
  readonly id: string;
  readonly push: readonly DryRunPush[];
}

/** The number of users in one request: the service lists the devices of at most so many users. */
const chunkSize = 100;

/**
 * Asks the service who would get this notification, chunk by chunk. Writes nothing.
 *
 * @param onProgress called after each chunk with the number of users that were checked
 * @throws ProblemError if the content is not valid; the errors of a request
 */
export async function runDryRun(
  content: Content,
  recipients: readonly Recipient[],
  signal: AbortSignal,
  onProgress: (checked: number) => void,
): Promise<Report> {
  const people = new Map<string, Person>();
  const unknown: Recipient[] = [];
  const push = { apns: 0, fcm: 0, web_push: 0, muted: 0 };
  let steps: DryRun['steps'] = [];
  for (let offset = 0; offset < recipients.length; offset += chunkSize) {
    const chunk = recipients.slice(offset, offset + chunkSize);
    const { found, missing: unknownAddresses } = await withIds(chunk, signal);
    // Several addresses can belong to one user.
    const users = found.filter(({ id }, index) => !people.has(id) && found.findIndex((one) => one.id === id) === index);
    const { result, missing } = await checkChunk(content, users, signal);
    unknown.push(...unknownAddresses, ...missing);
    for (const { user_id: id, push: pushes } of result?.items ?? []) people.set(id, { id, push: pushes });
    for (const channel of ['apns', 'fcm', 'web_push', 'muted'] as const) push[channel] += result?.push[channel] ?? 0;
    steps = added(steps, result?.steps ?? []);
    onProgress(Math.min(offset + chunkSize, recipients.length));
  }
  return { people: [...people.values()], unknown, push, steps, endedAt: new Date().toISOString() };
}

/** The sums of the decisions of two chunks. */
function added(before: DryRun['steps'], more: DryRun['steps']): DryRun['steps'] {
  const all = new Map<string, DryRun['steps'][number]>();
  for (const each of [...before, ...more]) {
    const key = `${each.channel} ${each.state} ${each.reason}`;
    all.set(key, { ...each, count: each.count + (all.get(key)?.count ?? 0) });
  }
  return [...all.values()];
}

/** Replaces addresses by the ids of their users. */
async function withIds(recipients: readonly Recipient[], signal: AbortSignal) {
  const missing: Recipient[] = [];
  const ids = new Map<Recipient, string>();
  for (const type of ['email', 'phone'] as const) {
    const wanted = recipients.filter(({ address }) => address === type);
    if (wanted.length === 0) continue;
    const users = await findUsers(`${type}:in:${wanted.map(({ id }) => id).join(';')}`, signal);
    const byAddress = new Map(users.map((user) => [spellingOf(user[type] ?? ''), user.id]));
    for (const recipient of wanted) {
      const id = byAddress.get(spellingOf(recipient.id)) ?? (await findUser(type, recipient.id, signal))?.id;
      if (id === undefined) missing.push(recipient);
      else ids.set(recipient, id);
    }
  }
  const found = recipients.flatMap((recipient): Recipient[] => {
    if (recipient.address === undefined) return [recipient];
    const id = ids.get(recipient);
    return id === undefined ? [] : [{ id, line: recipient.line }];
  });
  return { found, missing };
}

/** A spelling that is equal for most spellings of an address. The service knows all of them. */
const spellingOf = (address: string) => (address.includes('@') ? address.toLowerCase() : address.replace(/\D/g, ''));

async function findUsers(filter: string, signal: AbortSignal): Promise<readonly User[]> {
  const call = { query: { filter, limit: chunkSize }, signal };
  return (await request<GetUserPageData, GetUserPageResponse>('GET', '/admin/v1/users/page', call)).data;
}

/** The user with an address in any spelling that the service accepts. */
const findUser = async (type: 'email' | 'phone', address: string, signal: AbortSignal): Promise<User | undefined> =>
  (await findUsers(`${type}:in:${address}`, signal))[0];

async function checkChunk(content: Content, recipients: readonly Recipient[], signal: AbortSignal) {
  const missing: Recipient[] = [];
  let known = recipients;
  for (;;) {
    if (known.length === 0) return { result: undefined, missing };
    const body = [{ ...content, user_ids: known.map(({ id }) => id) }];
    try {
      const result = await request<TryNotificationsData, DryRun>('POST', '/admin/v1/notifications/dry-run', {
        body,
        signal,
      });
      return { result, missing };
    } catch (error) {
      const missingIndexes = unknownIndexes(error);
      if (missingIndexes === undefined) throw error;
      missing.push(...known.filter((_, index) => missingIndexes.has(index)));
      known = known.filter((_, index) => !missingIndexes.has(index));
    }
  }
}

/** The indexes of the users who do not exist, if nothing else is wrong with the request. */
export function unknownIndexes(error: unknown): ReadonlySet<number> | undefined {
  if (!(error instanceof ProblemError) || error.errors.length === 0) return undefined;
  const indexes = error.errors.map(({ field, code }) => {
    const match = /^(?:0\.)?user_id(?:s\.(\d+))?$/.exec(field ?? '');
    return code === 'unknown_user' && match !== null ? Number(match[1] ?? 0) : undefined;
  });
  return indexes.includes(undefined) ? undefined : new Set(indexes.filter((index) => index !== undefined));
}

/** The message for a field of the content, such as `description`, of a request with one item. */
export const messageFor = (error: unknown, field: string): string | undefined =>
  error instanceof ProblemError ? (error.messageFor(field) ?? error.messageFor(`0.${field}`)) : undefined;
