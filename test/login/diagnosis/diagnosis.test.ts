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
];

test.each(situations)('predicts the answers to a login with %s', async (_, prepare, blockers) => {
  const login = await prepare();
  const diagnosis = await diagnose(instances, login);
  expect(blockersOf(diagnosis, login)).toEqual(blockers);
  const way = wayOf(diagnosis, login);
  expect(way.answers).toEqual(await logIn(instances, login));
  expect(way.verdict === 'yes').toBe(blockers.length === 0);
});
