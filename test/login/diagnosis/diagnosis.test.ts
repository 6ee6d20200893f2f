import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  blockersOf,
  diagnose,
  type Instances,
  logIn,
  newAddress,
  startInstances,
  wayOf,
} from '../../support/login-prediction.js';
import { createSituations, type Situation } from '../../support/login-situations.js';

let instances: Instances;
beforeAll(async () => {
  instances = await startInstances();
});
afterAll(() => instances.close());

const { change, lock, runSql, byName, newUser, lockByGuesses, createKnownDevice, newUserWithApp } = createSituations(
  () => instances,
);

const situations: readonly Situation[] = [
  ['a password', async () => byName(await newUser()), []],
  [
    'no password',
    async () => {
      const user = await newUser();
      await change(user, { password: null });
      return byName(user);
    },
    ['no_password'],
  ],
  [
    'a password hash that cannot be read',
    async () => {
      const user = await newUser();
      await runSql(`update users set password_hash = 'plain:secret' where id = $1`, [user.id]);
      return byName(user);
    },
    ['password_hash_unreadable'],
  ],
  [
    'an imported hash',
    async () => {
      const password_hash = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
      return { ...byName(await newUser({ password: undefined, password_hash })), secret: 'U*U' };
    },
    [],
  ],
  ['the right PIN', async () => ({ ...byName(await newUser({ pin: '1357' })), pin: '1357' }), []],
  [
    'a PIN that is encrypted with a removed key',
    async () => ({ ...byName(await newUser({ pin: '1357' })), pin: '1357', on: instances.rotated }),
    ['pin_unreadable'],
  ],
  [
    'a recovered PIN that is due',
    async () => {
      const user = await newUser({ pin: '1357' });
      const values = `next_pin_hash = pin_hash, pin_hash = 'k00000000$none', next_pin_at = db_now(),
        next_pin_since = db_now(), next_pin_cancel = '\\x00'`;
      await runSql(`update users set ${values} where id = $1`, [user.id]);
      return { ...byName(user), pin: '1357' };
    },
    [],
  ],
  [
    'a lock of an operator with an end',
    async () => {
      const user = await newUser();
      await lock(user, { until: '2099-01-01T00:00:00Z', reason: 'Stolen' });
      return byName(user);
    },
    ['locked_by_operator'],
  ],
  [
    'a lock of an operator without an end',
    async () => {
      const user = await newUser();
      await lock(user, { permanent: true });
      return byName(user);
    },
    ['locked_by_operator'],
  ],
  [
    'a lock of an operator that has ended',
    async () => {
      const user = await newUser();
      await lock(user, { until: '2099-01-01T00:00:00Z' });
      await runSql('update users set locked_until = db_now() where id = $1', [user.id]);
      return byName(user);
    },
    [],
  ],
  [
    'wrong secrets on new devices',
    async () => {
      const user = byName(await newUser());
      await lockByGuesses(user);
      return user;
    },
    ['new_devices_locked_by_guesses'],
  ],
  [
    'wrong secrets on new devices, and a known device',
    async () => {
      const user = await newUser();
      const deviceId = await createKnownDevice(user);
      await lockByGuesses(byName(user));
      return { ...byName(user), deviceId };
    },
    [],
  ],
  [
    'wrong secrets on a known device',
    async () => {
      const user = await newUser();
      const own = { ...byName(user), deviceId: await createKnownDevice(user) };
      await lockByGuesses(own);
      return own;
    },
    ['device_locked_by_guesses'],
  ],
  [
    'wrong secrets on a known device, and a new device',
    async () => {
      const user = await newUser();
      await lockByGuesses({ ...byName(user), deviceId: await createKnownDevice(user) });
      return byName(user);
    },
    [],
  ],
  [
    'so many wrong secrets that the lock is permanent',
    async () => {
      const user = byName(await newUser());
      await lockByGuesses(user);
      await runSql('update guess_budgets set permanent = true where user_id = $1', [user.userId]);
      return user;
    },
    ['new_devices_locked_by_guesses'],
  ],
  [
    'guesses whose process died',
    async () => {
      const user = byName(await newUser());
      const dead = `(user_id, bucket, slots, slots_taken_at, updated_at)
        select $1, '00000000-0000-0000-0000-000000000000', array_agg(gen_random_uuid()),
               array_agg(db_now() - interval '16 seconds'), db_now() - interval '16 seconds' from generate_series(1, 3)`;
      await runSql(`insert into guess_budgets ${dead}`, [user.userId]);
      return user;
    },
    ['new_devices_locked_by_guesses'],
  ],
  [
    'wrong secrets and a lock of an operator',
    async () => {
      const user = await newUser();
      await lockByGuesses(byName(user));
      await lock(user, { permanent: true });
      return byName(user);
    },
    ['new_devices_locked_by_guesses', 'locked_by_operator'],
  ],
  [
    'a deactivated user',
    async () => {
      const user = await newUser();
      await change(user, { status: 'deactivated' });
      return byName(user);
    },
    ['deactivated'],
  ],
  [
    'an identity that nobody has',
    async () => ({ authenticator: 'password', identity: { type: 'username', value: 'nobody1' } }),
    ['unknown_identity'],
  ],
  [
    'an identity that nobody has, after wrong secrets',
    async () => {
      const nobody = { authenticator: 'password', identity: { type: 'email', value: 'Nobody@Example.com' } };
      await lockByGuesses(nobody);
      return nobody;
    },
    ['unknown_identity', 'new_devices_locked_by_guesses'],
  ],
  [
    'an authenticator app',
    async () => {
      const { user, totp } = await newUserWithApp();
      return { ...byName(user), totp };
    },
    [],
  ],
  [
    'an authenticator app that the policy does not ask for',
    async () => {
      const { user, totp } = await newUserWithApp();
      await change(user, { second_factor: 'off' });
      return { ...byName(user), totp };
    },
    [],
  ],
  [
    'an authenticator app whose secret is encrypted with a removed key',
    async () => {
      const { user, totp } = await newUserWithApp();
      return { ...byName(user), totp, on: instances.rotated };
    },
    ['app_unreadable'],
  ],
  [
    'a required second factor that is not enrolled',
    async () => {
      const user = await newUser();
      await change(user, { second_factor: 'required' });
      return byName(user);
    },
    [],
  ],
  [
    'too many logins of an account',
    async () => {
      const user = { ...byName(await newUser()), on: instances.strict };
      for (let times = 0; times < 3; times += 1) await logIn(instances, user);
      return user;
    },
    ['account_limit'],
  ],
  [
    'too few logins left for the second factor',
    async () => {
      const { user, totp } = await newUserWithApp();
      const login = { ...byName(user), totp, on: instances.strict };
      await logIn(instances, { ...login, secret: 'wrong' });
      await logIn(instances, { ...login, secret: 'wrong' });
      return login;
    },
    ['account_limit'],
  ],
  [
    'too many logins from an address',
    async () => {
      const address = newAddress();
      const on = instances.strict;
      for (let times = 0; times < 3; times += 1) await logIn(instances, { ...byName(await newUser()), on, address });
      return { ...byName(await newUser()), on, address };
    },
    ['address_limit'],
  ],
  [
    'a blocked network',
    async () => {
      const on = instances.strict;
      const address = '198.51.100.7';
      const body = { address: '198.51.100.0/24', reason: 'attacks' };
      expect((await on.api('POST', '/admin/v1/blocks', { bearer: on.adminKey, body })).status).toBe(201);
      return { ...byName(await newUser()), on, address };
    },
    ['address_blocked'],
  ],
  ...addressSituations(),
];

/** Blocks and limits of addresses, in the spellings that proxies and operators use. */
function addressSituations(): readonly Situation[] {
  const block = async (address: string, body: object = {}) => {
    const on = instances.strict;
    const answer = await on.api('POST', '/admin/v1/blocks', { bearer: on.adminKey, body: { address, ...body } });
    expect(answer.status).toBe(201);
  };
  const from = async (address: string) => ({ ...byName(await newUser()), on: instances.strict, address });
  const blocked = (title: string, network: string, address: string, blockers = ['address_blocked']): Situation => [
    title,
    async () => {
      await block(network);
      return from(address);
    },
    blockers,
  ];
  const afterThreeFrom = (title: string, first: readonly string[], address: string, blockers: string[]): Situation => [
    title,
    async () => {
      for (const each of first) await logIn(instances, await from(each));
      return from(address);
    },
    blockers,
  ];
  return [
    blocked('a blocked network of IPv6', '2001:db8:7::/48', '2001:db8:7:1::9'),
    blocked('a neighbour of a blocked network of IPv6', '2001:db8:8::/48', '2001:db8:9::1', []),
    blocked('a blocked IPv4 address that arrives as IPv6', '203.0.113.9', '::ffff:203.0.113.9'),
    blocked('a blocked IPv4 address that arrives as IPv6 in hexadecimal', '203.0.113.10', '::FFFF:cb00:710a'),
    blocked('a block of IPv4 that was written as IPv6', '::ffff:203.0.113.64/122', '203.0.113.70'),
    blocked('a neighbour of a blocked address', '203.0.113.20', '203.0.113.21', []),
    blocked('an address behind a NAT64 whose IPv4 address is blocked', '203.0.113.30', '64:ff9b::cb00:711e', []),
    blocked('a link-local address with a zone', 'fe80::1', 'fe80::1%eth0'),
    [
      'a block that has ended',
      async () => {
        await runSql(
          `insert into address_blocks (id, network, reason, ends_at, created_by, created_at)
           values (gen_random_uuid(), '203.0.113.40', null, db_now(), 'key', db_now() - interval '1 hour')`,
          [],
        );
        return from('203.0.113.40');
      },
      [],
    ],
    [
      'an ended block inside of one that has no end',
      async () => {
        await block('192.0.2.0/24');
        await block('192.0.2.50', { ends_at: '2099-01-01T00:00:00Z' });
        await runSql("update address_blocks set ends_at = db_now() where network = '192.0.2.50'", []);
        return from('192.0.2.50');
      },
      ['address_blocked'],
    ],
    [
      'an identity that nobody has, from a blocked network',
      async () => {
        await block('203.0.113.50');
        const identity = { type: 'username', value: 'nobody2' };
        return { authenticator: 'password', identity, on: instances.strict, address: '203.0.113.50' };
      },
      ['unknown_identity', 'address_blocked'],
    ],
    [
      'a blocked network and a lock of an operator',
      async () => {
        await block('203.0.113.60');
        const user = await newUser();
        await lock(user, { permanent: true });
        return { ...byName(user), on: instances.strict, address: '203.0.113.60' };
      },
      ['address_blocked', 'locked_by_operator'],
    ],
    [
      'a deactivated user with a lock of an operator',
      async () => {
        const user = await newUser();
        await lock(user, { permanent: true });
        await change(user, { status: 'deactivated' });
        return byName(user);
      },
      ['deactivated', 'locked_by_operator'],
    ],
    [
      'a deactivated user after wrong secrets',
      async () => {
        const user = await newUser();
        await lockByGuesses(byName(user));
        await change(user, { status: 'deactivated' });
        return byName(user);
      },
      ['deactivated', 'new_devices_locked_by_guesses'],
    ],
    [
      'an identity in another spelling',
      async () => {
        const user = await newUser();
        return {
          ...byName(user),
          userId: undefined as never,
          identity: { type: 'username', value: user.username?.toUpperCase() ?? null },
        };
      },
      [],
    ],
    afterThreeFrom(
      'too many logins from other addresses of the same /64',
      ['2001:db8:a:1::1', '2001:db8:a:1::2', '2001:db8:a:1:ffff::3'],
      '2001:db8:a:1::4',
      ['address_limit'],
    ),
    afterThreeFrom(
      'logins from another /64',
      ['2001:db8:a:2::1', '2001:db8:a:2::2', '2001:db8:a:2::3'],
      '2001:db8:a:3::1',
      [],
    ),
    afterThreeFrom(
      'too many logins from one IPv4 address in three spellings',
      ['198.18.0.80', '::ffff:198.18.0.80', '64:ff9b::198.18.0.80'],
      '::ffff:c612:50',
      ['address_limit'],
    ),
  ];
}

test.each(situations)('predicts the answers to a login with %s', async (_, prepare, blockers) => {
  const login = await prepare();
  const diagnosis = await diagnose(instances, login);
  expect(blockersOf(diagnosis, login)).toEqual(blockers);
  const way = wayOf(diagnosis, login);
  expect(way.answers).toEqual(await logIn(instances, login));
  expect(way.verdict === 'yes').toBe(blockers.length === 0);
});
