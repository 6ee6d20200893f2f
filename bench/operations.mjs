// The requests of each operation, for random generated users.
import { password } from './generate.mjs';
import { request } from './load.mjs';

const basic = (token) => `Basic ${Buffer.from(token).toString('base64')}`;
const bearer = (token) => `Bearer ${token}`;

/**
 * A function that returns one item after the other, and starts again at the end. `once` is the number of calls until
 * then.
 */
export function oneAfterAnother(values) {
  let nth = 0;
  const next = () => values[nth++ % values.length];
  return Object.assign(next, { once: values.length });
}

const sampleOf = `select 'user' || n as username, bench.id('user', n) as id, bench.id('device', n) as device,
    bench.session_token(n) as session, bench.authentication_token(n) as token, bench.id('authentication', n) as authentication
  from (select distinct $1 + floor(random() * $2)::bigint as n from generate_series(1, $3)) picked`;

/** Random users, and random users with notifications but without a large inbox. */
export async function sample(pool, { users, owners, inboxes = 1 }) {
  const pick = async (from, count, samples) => (await pool.query(sampleOf, [from, count, samples])).rows;
  return { anyone: await pick(1, users, 12_000), owners: await pick(1 + inboxes, owners, 12_000) };
}

/**
 * @param {{ url: string, adminKey: string }} postern
 * @param {Awaited<ReturnType<typeof sample>>} users
 * @returns for each operation, a function that returns its next request
 */
export function operations({ url, adminKey }, { anyone, owners }) {
  const requestsOf = (users, make) => oneAfterAnother(users.map(make));
  const admin = { authorization: bearer(adminKey) };
  const publish = (body) => request('POST', `${url}/admin/v1/notifications`, { ...admin, body });
  // Only some of the rows, because they are large.
  const batches = (size, make) =>
    oneAfterAnother(Array.from({ length: 8 }, (_, nth) => make(rotated(anyone, nth * 777).slice(0, size))));
  return {
    verify: requestsOf(anyone, ({ session }) =>
      request('POST', `${url}/v1/sessions/verify`, { authorization: bearer(session) }),
    ),
    // Few users: a login takes long, and the rows of all of them must be cached.
    login: requestsOf(anyone.slice(0, 300), ({ username, device }) =>
      request('POST', `${url}/v1/tokens`, {
        body: {
          identity: { type: 'username', value: username },
          authenticator: 'password',
          secret: password,
          device: { id: device },
        },
      }),
    ),
    session: requestsOf(anyone, ({ token }) => request('POST', `${url}/v1/sessions`, { authorization: basic(token) })),
    status: requestsOf(anyone, ({ authentication }) => request('GET', `${url}/v1/tokens/${authentication}`)),
    // Few inboxes: the service caches their pages.
    listAgain: requestsOf(owners.slice(0, 500), ({ session }) =>
      request('GET', `${url}/v1/notifications`, { authorization: bearer(session) }),
    ),
    listKnown: requestsOf(owners.slice(0, 500), ({ session }) =>
      request('GET', `${url}/v1/notifications`, { authorization: bearer(session), 'if-none-match': '*' }),
    ),
    // So many inboxes that the service drops each page before it is requested again.
    list: requestsOf(owners, ({ session }) =>
      request('GET', `${url}/v1/notifications`, { authorization: bearer(session) }),
    ),
    filtered: requestsOf(owners, ({ session }) =>
      request('GET', `${url}/v1/notifications?filter=notification_type:payment`, { authorization: bearer(session) }),
    ),
    publish: requestsOf(anyone, ({ id }) => publish({ user_id: id, ...content })),
    publishToOne: requestsOf(anyone.slice(0, 1), ({ id }) => publish({ user_id: id, ...content })),
    publishItems: batches(1000, (users) => publish(users.map(({ id }) => ({ user_id: id, ...content })))),
    publishUsers: batches(10_000, (users) => publish({ user_ids: users.map(({ id }) => id), ...content })),
    user: requestsOf(anyone, ({ id }) => request('GET', `${url}/admin/v1/users/${id}`, admin)),
    users: oneAfterAnother([request('GET', `${url}/admin/v1/users`, admin)]),
    search: requestsOf(anyone, ({ username }) =>
      request('GET', `${url}/admin/v1/users?filter=username:eq:${username}`, admin),
    ),
  };
}

/**
 * A notification as a publisher writes it. bare.mjs inserts the same. The row is as long as the generated rows. Shorter
 * rows would fill the small gaps that millions of generated rows have left, each on another page. In a table that has
 * grown normally, few rows find such a gap.
 */
export const content = {
  notification_type: 'payment',
  actor: 'Grace Hopper',
  object_data_number: 12.5,
  description:
    'Grace Hopper paid you 12.50 for the tickets to the concert in the old town hall on Friday the thirteenth',
};

function rotated(values, by) {
  return [...values.slice(by), ...values.slice(0, by)];
}
