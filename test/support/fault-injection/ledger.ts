import { setTimeout as wait } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import type { Authentication } from '../../../src/contract/authentication.js';
import type { NewSession } from '../../../src/contract/session.js';
import type { User } from '../../../src/contract/user.js';
import type { ApiAnswer } from '../app.js';
import { eventually } from '../eventually.js';
import { codeOf, createUser, messageOf, newPhone, password, passwordLogin, smsLogin } from '../users.js';
import { type FaultyService, isLong } from './service.js';

/** An acknowledged fact, and how to check that it still holds. */
export interface Fact {
  readonly kind: string;
  /** The id of a new user. */
  readonly userId?: string;
  /** The fault, or undefined. */
  check(service: FaultyService): Promise<string | undefined>;
}

/** An authentication token. `unsure`: a request on it is running, so its state is unknown. */
interface Token {
  readonly id: string;
  readonly userId: string;
  readonly text: string;
  state: 'good' | 'unsure' | 'ended' | 'locked';
}

/** The acknowledged facts of a service, and its forbidden answers. */
export interface Ledger {
  readonly facts: Fact[];
  readonly violations: string[];
}

const newSessionStatus = { good: 201, ended: 401, locked: 403 };
const verifyStatus = { good: 200, ended: 401, locked: 401 };

/**
 * Milliseconds between two pieces of work of a writer. A dead service gives no more information, and requests at full speed would
 * delay the next one. In the short form, fewer facts show the same: each is checked twice.
 */
const pauseMs = isLong ? 5 : 50;

/** The same hash for all users: writers should wait for the database, not for hashes. */
export const passwordHash = () => hash(password, { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 });

/** Thrown when the service is unavailable: the request may have taken effect or not. */
class Unacknowledged extends Error {}

/** One round of writing on one service. Each writer repeats one request until the service no longer answers. */
export function startWriters(service: FaultyService, ledger: Ledger, userHash: string): { stop(): Promise<void> } {
  const { api, adminKey } = service;
  let stopping = false;

  async function acknowledged<T>(what: string, wanted: number, answer: Promise<ApiAnswer<T>>): Promise<T> {
    const { status, body, text } = await answer.catch((error: Error) => {
      // The connection broke before the end of the answer.
      throw new Unacknowledged(what, { cause: error });
    });
    if (status === wanted) return body;
    if (status !== 503) ledger.violations.push(`${what}: ${status} ${text}`);
    throw new Unacknowledged(what);
  }
  const record = (kind: string, check: Fact['check'], more: Pick<Fact, 'userId'> = {}) =>
    void ledger.facts.push({ kind, check, ...more });

  async function newUser(fields: object = {}): Promise<User> {
    const member = createUser(service, { password: undefined, password_hash: userHash, ...fields });
    const user = await member.catch((error: Error) => {
      throw new Unacknowledged('user', { cause: error });
    });
    record(
      'user',
      async ({ api }) => {
        const { status } = await api('GET', `/admin/v1/users/${user.id}`, { bearer: adminKey });
        return status === 200 || deleted.has(user.id) ? undefined : `user ${user.id}: ${status}`;
      },
      { userId: user.id },
    );
    return user;
  }
  const deleted = new Set<string>();

  function keepToken(userId: string, { id, token = '' }: Authentication): Token {
    const kept: Token = { id, userId, text: token, state: 'good' };
    record('token', async ({ api }) => {
      if (kept.state === 'unsure') return undefined;
      const { status } = await api('POST', '/v1/sessions', { basic: kept.text });
      return status === newSessionStatus[kept.state] ? undefined : `${kept.state} token ${id}: ${status}`;
    });
    return kept;
  }

  async function logIn({ id, username }: User, device: object = {}): Promise<Token> {
    const body = passwordLogin(username, password, device);
    return keepToken(id, await acknowledged('login', 201, api<Authentication>('POST', '/v1/tokens', { body })));
  }

  async function newSession(token: Token): Promise<string> {
    const opened = api<NewSession>('POST', '/v1/sessions', { basic: token.text });
    const { id, token: text } = await acknowledged('session', 201, opened);
    record('session', async ({ api }) => {
      if (token.state === 'unsure') return undefined;
      const { status } = await api('POST', '/v1/sessions/verify', { bearer: text });
      return status === verifyStatus[token.state] ? undefined : `session ${id} of a ${token.state} token: ${status}`;
    });
    return text;
  }

  /**
   * Ends or locks a token. Its state is unknown until the response arrives. A check of the token and its sessions then shows
   * whether it took effect.
   */
  async function end(
    kind: string,
    token: Token,
    state: Token['state'],
    act: () => Promise<unknown>,
    check?: Fact['check'],
  ) {
    token.state = 'unsure';
    await act();
    token.state = state;
    record(kind, check ?? (async () => undefined));
  }

  const writers: Record<string, () => Promise<void>> = {
    async logIn() {
      const user = await newUser();
      for (let login = 0; login < 5; login += 1) await newSession(await logIn(user));
    },
    async supersede() {
      const user = await newUser();
      const device = { id: crypto.randomUUID() };
      const older = await logIn(user, device);
      await newSession(older);
      const newer = await logIn(user, device);
      await end('superseded token', older, 'ended', () => newSession(newer));
    },
    async deleteTokens() {
      const user = await newUser();
      const token = await logIn(user);
      const bearer = await newSession(token);
      await end('deletion of a token', token, 'ended', () =>
        acknowledged('deletion', 200, api('DELETE', `/v1/tokens/${token.id}`, { bearer })),
      );
    },
    async deleteUsers() {
      const user = await newUser();
      const token = await logIn(user);
      await newSession(token);
      deleted.add(user.id);
      const path = `/admin/v1/users/${user.id}`;
      const erase = () => acknowledged('deletion', 204, api('DELETE', path, { bearer: adminKey }));
      await end('deletion of a user', token, 'ended', erase, async (service) => {
        const { status } = await service.api('GET', path, { bearer: adminKey });
        return status === 404 ? undefined : `deleted user ${user.id}: ${status}`;
      });
    },
    async lock() {
      const user = await newUser();
      const token = await logIn(user);
      await newSession(token);
      const path = `/admin/v1/users/${user.id}/lock`;
      await end('lock', token, 'locked', () =>
        acknowledged('lock', 200, api('POST', path, { bearer: adminKey, body: { permanent: true } })),
      );
    },
    async notify() {
      const user = await newUser();
      for (let request = 0; request < 20; request += 1) {
        const batch = Array.from({ length: 1 + (request % 3) }, () => ({
          user_id: user.id,
          notification_type: 'payment',
          notification_key: `batch-${request}`,
          description: 'Lunch',
        }));
        const published = api<{ id: string }[]>('POST', '/admin/v1/notifications', { bearer: adminKey, body: batch });
        // Also without an acknowledgement, the batch is stored completely or not at all.
        record('batch', async (service) => {
          const found = (await inboxOf(service, user)).filter(
            ({ notification_key: key }) => key === `batch-${request}`,
          );
          return [0, batch.length].includes(found.length) ? undefined : `${found.length} of a batch of ${batch.length}`;
        });
        for (const { id } of await acknowledged('notification', 201, published)) {
          record('notification', async (service) => {
            const found = (await inboxOf(service, user)).filter((notification) => notification.id === id);
            return found.length === 1 ? undefined : `notification ${id} is there ${found.length} times`;
          });
        }
      }
    },
    async sendCodes() {
      const user = await newUser({ phone: newPhone() });
      const started = api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
      const { id } = await acknowledged('code', 201, started);
      record('queued message', async (service) => {
        const { state } = await messageOf(service, id, ['sent', 'failed', 'expired', 'dropped']);
        return state === 'sent' ? undefined : `message of ${id}: ${state}`;
      });
      const code = await codeOf(service, id).catch((error: Error) => {
        throw new Unacknowledged('outbox', { cause: error });
      });
      const body = { secret: code, pin: '1234' };
      const answered = api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body });
      keepToken(user.id, await acknowledged('second step', 201, answered));
      record('used code', async ({ api }) => {
        const { status } = await api('POST', `/v1/tokens/${id}/secret`, { body });
        return status === 400 ? undefined : `used code of ${id}: ${status}`;
      });
    },
  };

  const loops = Object.entries(writers).map(async ([name, write]) => {
    while (!stopping) {
      await write().catch((error: unknown) => {
        if (!(error instanceof Unacknowledged)) ledger.violations.push(`${name}: ${String(error)}`);
      });
      await wait(pauseMs);
    }
  });
  return {
    async stop() {
      stopping = true;
      await Promise.all(loops);
    },
  };
}

interface Listed {
  readonly id: string;
  readonly notification_key: string | null;
}

/** One user gets at most 100 here: one page. */
async function inboxOf({ api, adminKey }: FaultyService, { id }: User): Promise<readonly Listed[]> {
  const path = `/admin/v1/users/${id}/notifications?limit=100`;
  const { status, body } = await api<Listed[]>('GET', path, { bearer: adminKey });
  if (status !== 200) throw new Error(`the inbox: ${status}`);
  return body;
}

/** Checks a few facts at a time. */
export async function checkFacts(service: FaultyService, facts: readonly Fact[]): Promise<string[]> {
  const wrong: string[] = [];
  const queue = facts.values();
  const checkers = Array.from({ length: 8 }, async () => {
    for (const { kind, check } of queue) {
      // On a busy machine, the service may be unavailable for a moment. That is no answer about the fact.
      const { fault } = await eventually(`an answer about a ${kind}`, async () => {
        const found = await check(service).catch(String);
        return found?.endsWith(': 503') ? undefined : { fault: found };
      });
      if (fault !== undefined) wrong.push(`${kind}: ${fault}`);
    }
  });
  await Promise.all(checkers);
  return wrong;
}
