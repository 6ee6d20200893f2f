import { Problem } from '../../lib/problem.js';
import type { BatchOptions } from '../batching/batch-loader.js';
import { type Database, mainShard, type Queryable, type Shard } from '../database.js';
import { MovedError, type Server } from '../server.js';
import type { Scope, Statement } from '../sql.js';
import type { ShardMap } from './map.js';

/** Finds the server of a user or a statement. */
export interface Router {
  readonly map: ShardMap;
  /** By their names, with `main` first. */
  readonly servers: ReadonlyMap<string, Server>;
}

/** How often a statement or a transaction is tried, if its users were moved. */
const maxAttempts = 3;

/** @throws Problem `storage_unavailable` if SHARDS of this process does not name the server */
export function serverOf({ map, servers }: Router, userId: string): Server {
  return serverNamed(servers, map.shardOf(userId));
}

export function serverNamed<Named>(servers: ReadonlyMap<string, Named>, name: string): Named {
  const server = servers.get(name);
  if (server === undefined) {
    const cause = new Error(`users are on the server ${name}, and SHARDS does not name it`);
    throw new Problem('storage_unavailable', { cause, retryAfter: 1 });
  }
  return server;
}

/**
 * Runs a statement or begins a transaction on the server that `find` gives. After a change of the map, it does so again.
 * @param run its second argument tells whether `find` still gives this server. It must have no effect if it fails with
 *   `MovedError`, or because a connection could not be opened
 */
export function routed<T>(
  router: Router,
  find: () => Server,
  run: (server: Server, isHere: () => boolean) => Promise<T>,
): Promise<T> {
  return repeatMoved(router, async () => {
    const server = find();
    return run(server, () => isStill(find, server));
  });
}

/**
 * Runs work that finds the servers of users by the map. If one of these users was moved, it reads the map and runs the work
 * again.
 * @param work must have no effect if it fails with `MovedError`
 */
export async function repeatMoved<T>({ map }: Router, work: () => Promise<T>): Promise<T> {
  return retryMoved(work, () => map.reload().catch(() => undefined));
}

function isStill(find: () => Server, server: Server): boolean {
  try {
    return find() === server;
  } catch {
    // The users of the statement are on several servers now. The next attempt throws this error.
    return false;
  }
}

/** A server that refuses a statement with `MovedError` if its users have moved to another one. */
export function refusingMoved(router: Router, name: string, server: Server): Server {
  return {
    ...server,
    query(statement, deadline) {
      const find = () => {
        if (namesUsersOf(router, name, statement)) return server;
        throw new MovedError(new Error('a user of the statement was moved'));
      };
      return routed(router, find, (current, isHere) => current.query(statement, deadline, isHere));
    },
  };
}

/** Whether the users that a statement names are on this server by the map. True if it names none that can be read. */
function namesUsersOf({ map }: Router, serverName: string, statement: Statement): boolean {
  const { users } = statement;
  if (typeof users !== 'string' && !Array.isArray(users)) return true;
  return usersOf(statement)?.every((userId) => map.shardOf(userId) === serverName) ?? true;
}

/**
 * Repeats work that finds the server of a user at each attempt, if the user was moved meanwhile.
 * @param work must have no effect if it fails with `MovedError`
 * @param prepare runs before each further attempt
 */
export async function retryMoved<T>(work: () => Promise<T>, prepare?: () => Promise<void>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || !(error instanceof MovedError)) throw error;
    }
    await prepare?.();
  }
}

/**
 * The users that a statement names. Undefined: it names none.
 * @throws Error for binary arrays, whose statements run on the handle of one shard
 */
export function usersOf({ name, users }: Statement): readonly string[] | undefined {
  if (users === undefined || users === null) return undefined;
  if (users === '{}') return [];
  if (typeof users === 'string') return users.startsWith('{') ? users.slice(1, -1).split(',') : [users];
  if (Array.isArray(users)) return users.map(String);
  throw new Error(`the users of the statement ${name} cannot be read: run it on one of database.shards`);
}

/**
 * The server of a statement with the scope `user`.
 * @param home the user of the transaction, for statements that name no user
 * @throws MovedError if it names users of several servers
 * @throws Error if it names none
 */
export function serverOfStatement(router: Router, statement: Statement, home: string | undefined): Server {
  const named = usersOf(statement) ?? (home === undefined ? [] : [home]);
  const servers = new Set(named.map((userId) => serverOf(router, userId)));
  const [server] = servers;
  if (server === undefined && usersOf(statement) !== undefined) return serverNamed(router.servers, mainShard);
  if (server === undefined) throw new Error(`the statement ${statement.name} names no user: run it on a handle of one`);
  // They have moved since the statement was made, or its caller has not split them.
  if (servers.size > 1) {
    throw new MovedError(new Error(`the statement ${statement.name} names users of several servers: split them`));
  }
  return server;
}

/** The servers of a statement with the scope `spanning`: all, or the directory and that of the user whom it names. */
export function serversOfSpanning(router: Router, { users }: Statement): readonly Server[] {
  if (typeof users !== 'string') return [...router.servers.values()];
  return [...new Set([serverNamed(router.servers, mainShard), serverOf(router, users)])];
}

/** The statement for each server, if it can be divided and names users of several. Otherwise it is itself. */
export function divide<Row extends object>(router: Router, statement: Statement<Row>): readonly Statement<Row>[] {
  const { isDivisible, users, values } = statement;
  if (isDivisible !== true || !Array.isArray(users)) return [statement];
  const groups = new Map<Server, string[]>();
  for (const userId of users.map(String)) {
    const server = serverOf(router, userId);
    const group = groups.get(server);
    if (group === undefined) groups.set(server, [userId]);
    else group.push(userId);
  }
  if (groups.size <= 1) return [statement];
  return [...groups.values()].map((group) => ({
    ...statement,
    users: group,
    values: values.map((value) => (value === users ? group : value)),
  }));
}

/** Groups items by the shard of their user. With one shard, it is one group of the same array. */
export function splitByShard<Item>(
  database: Pick<Database, 'shards' | 'shardOf'>,
  items: readonly Item[],
  userIdOf: (item: Item) => string,
): ReadonlyMap<Shard, readonly Item[]> {
  const [first, ...others] = database.shards;
  if (first !== undefined && others.length === 0) return new Map(items.length === 0 ? [] : [[first, items]]);
  const groups = new Map<Shard, Item[]>();
  for (const item of items) {
    const shard = database.shardOf(userIdOf(item));
    const group = groups.get(shard);
    if (group === undefined) groups.set(shard, [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * The part of a transaction on one server: its statements run there, whatever their scope. Without SHARDS it is the
 * transaction itself.
 */
export function partOn(tx: Queryable<'directory'>, { name }: Shard): Queryable<Scope> {
  return { query: (statement) => tx.query({ ...statement, scope: 'directory', server: name }) };
}

/** The field of a log line that names the server. Without SHARDS there is none. */
export function serverField(database: Database, shard: Shard): { readonly server?: string } {
  return database.shards.length === 1 ? {} : { server: shard.name };
}

/** Creates a part for each shard, and finds the part of a user. @param create its second argument is for batches */
export function perShard<Part>(
  database: Database,
  create: (shard: Shard, options: BatchOptions) => Part,
): (userId: string) => Part {
  const options = { isOneOfSeveral: database.shards.length > 1 };
  const parts = new Map(database.shards.map((shard) => [shard, create(shard, options)]));
  const [first, ...others] = parts.values();
  if (first !== undefined && others.length === 0) return () => first;
  return (userId) => {
    const part = parts.get(database.shardOf(userId));
    if (part === undefined) throw new Error('the shard of a user has no part');
    return part;
  };
}
