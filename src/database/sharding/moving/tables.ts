/** A table whose rows each belong to one user. */
export interface UserTable {
  readonly name: string;
  /** The column with the user's id. */
  readonly column: 'id' | 'user_id';
}

const names = [
  'authentications',
  'challenges',
  'devices',
  'events',
  'former_names',
  'guess_budgets',
  'imported_hashes',
  'inbox_blocks',
  'inboxes',
  'markers',
  'mutes',
  'notices',
  'notification_tombstones',
  'notifications',
  'outbox',
  'passkeys',
  'push_deliveries',
  'recovery_codes',
  'sessions',
  'totp',
  'used_proofs',
  'webhook_deliveries',
  'webhook_events',
  'webhook_users',
];

/** The rows of users that move with them. */
export const userTables: readonly UserTable[] = [
  { name: 'users', column: 'id' },
  ...names.map((name): UserTable => ({ name, column: 'user_id' })),
];

/** The tables with the work of relays. It moves in one step at the switch, with the jobs: see `luggage.ts`. */
export const workTables: readonly UserTable[] = ['undispatched_messages', 'webhook_queues'].map((name) => ({
  name,
  column: 'user_id',
}));

/** The jobs of the queue. Their payloads name the users. */
export const jobTable = 'graphile_worker._private_jobs';

/**
 * The tables with a column `user_id` whose rows stay: those of the directory, of changes on one server, and of the move
 * itself.
 */
export const stayingTables: readonly string[] = [
  ...['external_identities', 'identities', 'images', 'setup_links', 'test_identities'],
  ...['event_feed', 'session_changes'],
  ...['shard_changes', 'shard_moving_users'],
];
