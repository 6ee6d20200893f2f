import { request, session } from '../../api/client.js';
import { type Connection, connection } from '../../api/connection.js';
import { isTemporary, ProblemError } from '../../api/problem.js';
import type {
  Notification,
  PublishNotificationData,
  PublishNotificationsData,
  PublishNotificationsResponse,
} from '../../api/schema.js';
import { readStored, writeStored } from '../../lib/storage.js';
import { createStore, firstValue, type Store } from '../../lib/store.js';
import type { Content } from './content.js';
import { unknownIndexes } from './dry-run.js';

/**
 * The content and the recipients of a publication. Because of the key, each chunk is published once, however often it is
 * sent.
 */
interface Plan {
  readonly key: string;
  readonly content: Content;
  readonly ids: readonly string[];
  readonly startedAt: string;
}

export interface Outcome {
  readonly user_id: string;
  readonly result: 'published' | 'unknown_user';
  /** The id of the notification. */
  readonly id?: string;
}

export interface Publication {
  readonly plan: Plan;
  /**
   * `interrupted`: the page was left in the middle. `failed`: the error below ended it. The operator can continue both.
   */
  readonly state: 'running' | 'stopping' | 'stopped' | 'interrupted' | 'failed' | 'done';
  readonly outcomes: readonly Outcome[];
  readonly error?: unknown;
}

/** The maximum number of users of one request, and of bytes of its answer, which repeats the content for each user. */
const limits = { users: 500, bytes: 2 ** 20 };
/**
 * The maximum number of attempts of one request while the service cannot be reached or is busy, and the delay before the
 * second attempt in milliseconds. The delay doubles each time.
 */
const attempts = { max: 6, firstDelayMs: 1000 };
/** The service knows a key for 24 hours. After that a repeat would publish again. */
const keyLifeMs = 20 * 3_600_000;
/** The name of the draft that holds the publication. All drafts are deleted when the operator signs out. */
const storedPlan = 'draft.publication';

/** The publication of this tab, if there is one. It goes on while the operator looks at other pages. */
export const publication: Store<Publication | undefined> = createStore(unfinished());
// The next operator must not see it.
session.state.subscribe(() => {
  if (session.state.get().status === 'out') dismiss();
});

/** A publication that a reload of the page interrupted. */
function unfinished(): Publication | undefined {
  const text = readStored('sessionStorage', storedPlan);
  if (text === undefined) return undefined;
  try {
    return { plan: JSON.parse(text) as Plan, state: 'interrupted', outcomes: [] };
  } catch {
    return undefined;
  }
}

/** Whether the rest can be published without publishing anything twice. */
export const canContinue = ({ plan, state }: Publication): boolean =>
  ['stopped', 'interrupted', 'failed'].includes(state) && Date.now() - Date.parse(plan.startedAt) < keyLifeMs;

/** Publishes to these users. */
export function publish(content: Content, ids: readonly string[]): Promise<void> {
  const plan: Plan = { key: crypto.randomUUID(), content, ids, startedAt: new Date().toISOString() };
  writeStored('sessionStorage', storedPlan, JSON.stringify(plan));
  return run({ plan, state: 'running', outcomes: [] });
}

/** Continues a publication that ended early. Chunks that were published are not published again. */
export const continuePublication = ({ plan }: Publication): Promise<void> =>
  run({ plan, state: 'running', outcomes: [] });

/** Ends after the request that runs now, so that the result is known for each user. */
export function stop(): void {
  const current = publication.get();
  if (current?.state === 'running') publication.set({ ...current, state: 'stopping' });
}

/** Forgets a publication that has ended. */
export function dismiss(): void {
  writeStored('sessionStorage', storedPlan, undefined);
  publication.set(undefined);
}

async function run(started: Publication): Promise<void> {
  const { plan } = started;
  publication.set(started);
  const warnBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault();
  window.addEventListener('beforeunload', warnBeforeUnload);
  let outcomes: readonly Outcome[] = [];
  const end = (state: Publication['state'], error?: unknown) => {
    if (session.state.get().status === 'out') return;
    if (state === 'done') writeStored('sessionStorage', storedPlan, undefined);
    publication.set({ plan, state, outcomes, error });
  };
  try {
    const size = chunkSize(plan.content);
    for (let offset = 0; offset < plan.ids.length; offset += size) {
      const ids = plan.ids.slice(offset, offset + size);
      outcomes = [...outcomes, ...(await publishChunk(plan.content, ids, `${plan.key}-${offset}`))];
      if (publication.get()?.state === 'stopping' && outcomes.length < plan.ids.length) return end('stopped');
      publication.set({ plan, state: publication.get()?.state ?? 'running', outcomes });
    }
    end('done');
  } catch (error) {
    end('failed', error);
  } finally {
    window.removeEventListener('beforeunload', warnBeforeUnload);
  }
}

/** The number of users of one request. */
function chunkSize(content: Content): number {
  const bytes = new TextEncoder().encode(JSON.stringify(content)).length + 500;
  return Math.max(1, Math.min(limits.users, Math.floor(limits.bytes / bytes)));
}

/** Publishes to all of these users who still exist. */
async function publishChunk(content: Content, ids: readonly string[], key: string): Promise<Outcome[]> {
  let known = ids;
  for (let round = 0; known.length > 0; round += 1) {
    try {
      // Another body needs another key.
      const created = await withRetries(() => publishTo(content, known, round === 0 ? key : `${key}-${round}`));
      const byUser = new Map(created.map(({ user_id, id }) => [user_id, id]));
      return ids.map((user_id) => {
        const id = byUser.get(user_id);
        return id === undefined ? { user_id, result: 'unknown_user' } : { user_id, result: 'published', id };
      });
    } catch (error) {
      const missingIndexes = unknownIndexes(error);
      if (missingIndexes === undefined) throw error;
      known = known.filter((_, index) => !missingIndexes.has(index));
    }
  }
  return ids.map((user_id) => ({ user_id, result: 'unknown_user' }));
}

async function publishTo(content: Content, ids: readonly string[], key: string): Promise<readonly Notification[]> {
  const headers = { 'Idempotency-Key': key };
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    const body = { ...content, user_id: only };
    const call = { body, headers };
    return [await request<PublishNotificationData, Notification>('POST', '/admin/v1/notifications', call)];
  }
  const call = { body: [{ ...content, user_ids: [...ids] }], headers };
  return request<PublishNotificationsData, PublishNotificationsResponse>('POST', '/admin/v1/notifications/batch', call);
}

/** Repeats a request whose answer was lost, or that the service could not process. Its key makes this safe. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isRunning = error instanceof ProblemError && error.code === 'request_in_progress';
      const isStopped = publication.get()?.state !== 'running';
      if (attempt === attempts.max || isStopped || !(isRunning || isTemporary(error))) throw error;
      const retryAfterMs = error instanceof ProblemError ? (error.retryAfter ?? 0) * 1000 : 0;
      await pause(Math.max(retryAfterMs, attempts.firstDelayMs * 2 ** (attempt - 1)));
    }
  }
}

const isReachable = (state: Connection): state is Extract<Connection, { reachable: true }> => state.reachable;

/** Waits. If the service cannot be reached, the wait ends early when it can be reached again. */
async function pause(milliseconds: number): Promise<void> {
  const isLost = !connection.get().reachable;
  const time = new Promise((resolve) => setTimeout(resolve, milliseconds));
  await (isLost ? Promise.race([time, firstValue(connection, isReachable)]) : time);
}
