/**
 * A real Postern with an empty database, for the tests of an app. For Node.js. It needs a built Postern on this machine.
 *
 * @packageDocumentation
 */
import { randomUUID } from 'node:crypto';
import { createLogin, createPostern, memoryStorage, type Postern } from '@postern/client';
import { stopwatch, UsageError, wait } from '@postern/client/internal';
import type { NewUser } from '../admin/users.js';
import { createPosternServer, type PosternServer } from '../server.js';
import type { User } from '../wire.js';
import { createNetwork, type Disturbance } from './network.js';
import { type PosternProcess, startProcess } from './process.js';
import { totpOf } from './totp.js';
import { type TestEvent, webhookRequest } from './webhook-request.js';

export type { Disturbance } from './network.js';
export type { TestEvent } from './webhook-request.js';

export interface TestPosternOptions {
  /** Settings, such as `{ PIN_POLICY: 'off' }`. By default codes are readable, and nothing limits the logins of an address. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The folder of Postern. By default the package `postern` of the working directory. */
  readonly installation?: string | undefined;
  /**
   * The `url` and the `apiKey` of a Postern that another process has started, such as the global set-up of all test files. `stop`
   * leaves it running, and only the process that started it can `advance` its clock.
   */
  readonly running?: { readonly url: string; readonly apiKey: string } | undefined;
}

/** A user with the secrets to log in. */
export type TestUser = User & { readonly password: string; readonly pin: string | undefined };

/** A running Postern. */
export interface TestPostern {
  readonly url: string;
  /** An API key with every scope. */
  readonly apiKey: string;
  /** The client of a backend, with that key. */
  readonly server: PosternServer;
  /** Creates a user with a password. Members that you leave out get random values. */
  readonly createUser: (user?: Partial<Omit<NewUser, 'password_hash'>>) => Promise<TestUser>;
  /** A client of a new device that is signed out, in memory. */
  readonly client: () => Postern;
  /** A client of a new device on which this user is logged in. */
  readonly signIn: (user: Pick<TestUser, 'username' | 'email' | 'phone' | 'password' | 'pin'>) => Promise<Postern>;
  /** The last code that was sent to a phone number or address. It waits until there is one. */
  readonly codeFor: (recipient: string) => Promise<string>;
  /** The code of an authenticator app, by the `secret` of its enrolment. Postern takes each code once: `advance` 30 seconds for another. */
  readonly totp: (secret: string) => Promise<string>;
  /** A signed request with an event, as Postern sends it, to test a receiver of webhooks. */
  readonly webhookRequest: (url: string | URL, event: TestEvent, secret: string) => Promise<Request>;
  /** Disturbs the requests of the clients above while `during` runs. It also cuts their requests and streams in progress. */
  readonly disturb: <T>(how: Disturbance, during: () => Promise<T>) => Promise<T>;
  /** Moves the clock of Postern: sessions expire, locks end. The clock of your process does not change. */
  readonly advance: (milliseconds: number) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Stops it at the end of a block that begins with `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** How long `codeFor` waits, in milliseconds. */
const codeDeadlineMs = 30_000;

/**
 * Starts a Postern in a process of its own. It stops when you stop it, and when your process ends.
 *
 * @example
 * ```ts
 * import { startPostern } from '@postern/server/testing';
 *
 * const postern = await startPostern();
 * const ada = await postern.createUser();
 * const page = await postern.signIn(ada);
 * console.log((await page.getSession())?.user_id === ada.id);
 * await postern.advance(3_600_000);
 * await postern.stop();
 * ```
 * @throws UsageError without a built Postern
 */
export async function startPostern(options: TestPosternOptions = {}): Promise<TestPostern> {
  const { env = {}, installation, running } = options;
  if (running !== undefined && (options.env !== undefined || installation !== undefined)) {
    throw new UsageError('A `running` Postern has its own settings: pass them where it is started.');
  }
  const { url, adminKey, setClock, stop } = running ? runningElsewhere(running) : await startProcess(installation, env);
  const { fetch, disturb } = createNetwork();
  const server = createPosternServer({ url, apiKey: adminKey, fetch });
  const clients: Postern[] = [];
  let offset = 0;

  function client(): Postern {
    const newClient = createPostern({ url, storage: memoryStorage(), tabs: false, fetch });
    clients.push(newClient);
    return newClient;
  }
  async function stopAll(): Promise<void> {
    for (const openClient of clients) openClient.close();
    await stop();
  }
  return {
    url,
    apiKey: adminKey,
    server,
    client,
    stop: stopAll,
    [Symbol.asyncDispose]: stopAll,
    async createUser(fields = {}) {
      const { password = `a password ${randomUUID()}`, ...rest } = fields;
      const username = rest.username ?? `user-${randomUUID().slice(0, 13)}`;
      const user = await server.users.create({ ...rest, username, password }, { idempotencyKey: randomUUID() });
      return { ...user, password, pin: fields.pin };
    },
    async signIn({ username, email, phone, password, pin }) {
      const newClient = client();
      const state = await createLogin(newClient)
        .start()
        .password({ identity: username ?? email ?? phone ?? '', password, pin });
      if (state.step !== 'done') {
        throw new UsageError(`This user is not logged in by the password alone: the login is at "${state.step}".`);
      }
      return newClient;
    },
    async codeFor(recipient) {
      const elapsed = stopwatch();
      do {
        const { data } = await server.outbox({ limit: 100, sort: 'created_at:desc' }).page();
        const code = data.find((message) => message.recipient === recipient && message.code !== null)?.code;
        if (code !== undefined && code !== null) return code;
        await wait(20);
      } while (elapsed() < codeDeadlineMs);
      throw new Error(`No code was sent to ${recipient}. Codes are readable while they are valid.`);
    },
    totp: async (secret) => totpOf(secret, Date.now() + offset),
    webhookRequest,
    disturb,
    async advance(milliseconds) {
      if (!Number.isSafeInteger(milliseconds)) throw new UsageError('`advance` takes a whole number of milliseconds.');
      await setClock(offset + milliseconds);
      offset += milliseconds;
    },
  };
}

/** A Postern of another process. */
const runningElsewhere = ({
  url,
  apiKey,
}: NonNullable<TestPosternOptions['running']>): Omit<PosternProcess, 'pid'> => ({
  url,
  adminKey: apiKey,
  stop: async () => undefined,
  async setClock() {
    throw new UsageError('Only the process that started this Postern can move its clock.');
  },
});
