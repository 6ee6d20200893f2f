import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';

/** Returns a generator of pseudo-random numbers from 0 to 1. They are the same in each run. */
function createRandom() {
  let state = 20_171_019;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const minute = 60_000;
const day = 86_400_000;

/**
 * Writes data of the past into the embedded database of a service, because no API can: 60 days of statistics, activity of
 * the last weeks, and messages and pushes that providers have refused.
 *
 * @param {string} data DATA_DIR
 */
export async function fillWithHistory(data) {
  const client = new pg.Client({ host: join(data, 'postgres'), user: 'postern', database: 'postern', ssl: false });
  await client.connect();
  try {
    await fillStatistics(client);
    await fillActivity(client);
    await fillMessages(client);
    await fillPushes(client);
    await client.query('analyze');
  } finally {
    await client.end();
  }
}

/** The load at a time of the day, from 0.35 (at night) to 1. @param {number} time */
const load = (time) => 0.35 + 0.65 * Math.max(0, Math.sin((((time % day) / day) * 24 - 6) * (Math.PI / 14)));

/** @param {pg.Client} client */
async function fillStatistics(client) {
  const random = createRandom();
  const now = Math.floor(Date.now() / minute) * minute;
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (let at = now - 60 * day; at < now; at += minute) {
    const busy = load(at) * (0.8 + 0.4 * random());
    // In the last hours, somebody guesses passwords.
    const isAttack = now - at < 3.5 * 3_600_000 && now - at > 1.2 * 3_600_000;
    const approved = Math.round(busy * 46);
    const often = (/** @type {number} */ chance) => (random() < chance * busy ? 1 : 0);
    const counted = {
      'logins.approved password': Math.round(approved * 0.62),
      'logins.approved sms': Math.round(approved * 0.3),
      'logins.approved passkey': Math.round(approved * 0.08),
      'logins.failed wrong_secret': Math.round(busy * 1.3 * random() + (isAttack ? 6 * random() : 0)),
      'logins.failed not_open': often(0.12),
      'logins.failed locked_by_guesses': often(isAttack ? 0.4 : 0.05),
      'logins.failed wrong_second_factor': often(0.05),
      'logins.failed too_many_requests': often(0.01),
      'locks guesses': often(isAttack ? 0.25 : 0.015),
      'locks operator': often(0.002),
      'devices.new ': often(0.9),
      'sessions.verified ': Math.round(busy * 161_000),
      'messages.sent sms': Math.round(busy * 4.5),
      'messages.failed sms': isAttack ? Math.round(2.6 * random()) : often(0.002),
      'messages.sent email': Math.round(busy * 1.6),
      'messages.failed email': often(0.003),
      'pushes.sent apns': Math.round(busy * 58),
      'pushes.dropped apns': Math.round(busy * 2.2),
      'pushes.failed apns': often(0.015),
      'pushes.sent fcm': Math.round(busy * 46),
      'pushes.gone fcm': Math.round(busy * 1.4),
      'pushes.failed fcm': often(0.03),
      'pushes.sent web_push': Math.round(busy),
    };
    const isSlow = now - at > 55 * minute && now - at < 80 * minute;
    const highest = {
      'queue.age ': isSlow ? 18 * random() : 0.2 + 0.5 * random() * busy,
      'database.size ': (12 + (at - now + 60 * day) / (5 * day)) * 1_048_576,
    };
    const streams = Math.round(5200 + 3800 * load(at));
    const steps = /** @type {const} */ ([
      ['minute', minute, 2 * day],
      ['hour', 3_600_000, 90 * day],
      ['day', day, 90 * day],
    ]);
    for (const [resolution, length, kept] of steps) {
      if (now - at > kept) continue;
      const key = `${resolution} ${Math.floor(at / length) * length}`;
      for (const [name, value] of Object.entries(counted)) {
        if (value > 0) sums.set(`${key} ${name}`, (sums.get(`${key} ${name}`) ?? 0) + value);
      }
      for (const [name, value] of Object.entries(highest)) {
        sums.set(`${key} ${name}`, Math.max(sums.get(`${key} ${name}`) ?? 0, value));
      }
      // The sum of a gauge is its value multiplied by the seconds.
      sums.set(`${key} streams.open `, (sums.get(`${key} streams.open `) ?? 0) + streams * 60);
    }
  }
  const rows = [...sums].map(([key, value]) => [...key.split(' '), value]);
  const column = (/** @type {number} */ index) => rows.map((row) => row[index]);
  await client.query(
    `insert into statistics (resolution, starts_at, metric, label, value)
     select resolution, to_timestamp(at / 1000), metric, label, value
     from unnest($1::text[], $2::float8[], $3::text[], $4::text[], $5::float8[]) u(resolution, at, metric, label, value)
     on conflict (resolution, starts_at, metric, label) do update set value = statistics.value + excluded.value`,
    [column(0), column(1), column(2), column(3), column(4)],
  );
}

/** Devices and activity of the users without a username. @param {pg.Client} client */
async function fillActivity(client) {
  const { rows: users } = await client.query(
    `select id from users where username is null and role = 'user' order by id`,
  );
  const random = createRandom();
  const models = [
    ['Apple', 'iPhone 15 Pro', 'iOS', '18.1'],
    ['Google', 'Pixel 9', 'Android', '15'],
    ['Samsung', 'Galaxy S24', 'Android', '14'],
    ['Lenovo', 'ThinkPad X1', 'Windows', '11'],
  ];
  const causes = [
    ['login.approved', { authenticator: 'password' }],
    ['login.approved', { authenticator: 'sms' }],
    ['login.approved', { authenticator: 'passkey' }],
    ['login.rejected', { authenticator: 'password', error_code: 'invalid_credentials' }],
    ['device.changed', {}],
  ];
  for (const [index, { id }] of users.entries()) {
    if (random() < 0.2) continue;
    const at = new Date(Date.now() - random() ** 4 * 20 * day - 20_000);
    const device = randomUUID();
    await client.query(
      `insert into devices (user_id, id, make, model, os_name, os_version, created_at, updated_at, last_login_at)
       values ($1, $2, $3, $4, $5, $6, $7, $7, $7)`,
      [id, device, ...(models[index % models.length] ?? []), at],
    );
    const [type, described] = causes[Math.floor(random() ** 1.5 * causes.length)] ?? [];
    await client.query(
      `insert into events (user_id, id, type, actor, address, data, created_at)
       values ($1, gen_random_uuid(), $2, 'user', $3, $4, $5)`,
      [id, type, `203.0.113.${index % 250}`, JSON.stringify({ ...Object(described), device_id: device }), at],
    );
  }
  // The lock must not end before its picture is taken.
  await client.query(
    `update guess_budgets set locked_until = now() + interval '8 minutes' where locked_until is not null`,
  );
  // The examples were created just now. This spreads their times over the past.
  await client.query(
    `update users set created_at = created_at - random() * interval '900 days'
     where created_at > now() - interval '1 hour' and role = 'user'`,
  );
  await client.query(
    `update events set created_at = created_at - random() * interval '3 days'
     where type in ('user.created', 'key.created', 'user.deactivated', 'setup_link.created', 'totp.enrolled')`,
  );
  await client.query(
    `update notifications n set created_at = created_at - k * interval '7 hours', updated_at = updated_at - k * interval '7 hours'
     from (select user_id, id, row_number() over (order by sequence desc) - 1 as k from notifications) o
     where (n.user_id, n.id) = (o.user_id, o.id)`,
  );
}

/** @param {pg.Client} client */
async function fillMessages(client) {
  const causes = [
    ['failed', 8, 'Twilio 30003: the handset cannot be reached'],
    ['failed', 8, 'Twilio 30006: the number is a landline, or its carrier does not answer'],
    ['expired', 3, 'The provider did not answer within 10 s'],
    ['queued', 2, 'The provider answered 503'],
    ['sent', 1, null],
    ['sent', 1, null],
    ['sent', 1, null],
    ['sent', 2, 'The provider answered 503'],
  ];
  const { rows: users } = await client.query(
    `select id, phone, email, username from users where phone is not null and status = 'active'
     order by username = 'grace' desc nulls last, id limit 96`,
  );
  for (const [index, { id, phone, email }] of users.entries()) {
    const [state, attempts, error] = causes[index % causes.length] ?? [];
    const isMail = email !== null && index % 4 === 3;
    const at = new Date(Date.now() - index * 7 * minute - 30_000);
    const kind = ['code', 'code', 'new_device', 'recovery_code'][Math.floor(index / 8) % 4];
    await client.query(
      `insert into outbox (user_id, id, channel, kind, recipient, state, attempts, last_error, expires_at, created_at, updated_at)
       values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, $7, $8::timestamptz + interval '5 minutes', $8, $8)`,
      [
        id,
        isMail ? 'email' : 'sms',
        `${isMail ? 'email' : 'sms'}.${kind}`,
        isMail ? email : phone,
        state,
        attempts,
        error,
        at,
      ],
    );
  }
}

/** The pushes of Grace's notifications, with their results. @param {pg.Client} client */
async function fillPushes(client) {
  const outcomes = [
    ['apns', 'sent', 'accepted', null, 1],
    ['fcm', 'failed', 'refused', 'FCM: QUOTA_EXCEEDED', 1],
    ['web_push', 'muted', 'muted', null, 0],
  ];
  const { rows } = await client.query(
    `select n.user_id, n.id as notification_id, n.created_at, d.id as device_id, row_number() over (partition by n.id order by d.make) - 1 as at
     from notifications n join devices d on d.user_id = n.user_id join users u on u.id = n.user_id and u.username = 'grace'`,
  );
  for (const { user_id, notification_id, device_id, created_at, at } of rows) {
    await client.query(
      `insert into push_deliveries (user_id, id, notification_id, device_id, channel, state, reason, last_error, attempts, created_at, updated_at)
       values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, $7, $8, $9, $9::timestamptz + interval '118 milliseconds')`,
      [user_id, notification_id, device_id, ...(outcomes[Number(at) % outcomes.length] ?? []), created_at],
    );
  }
}
