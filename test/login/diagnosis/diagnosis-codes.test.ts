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
import { newEmail, newPhone } from '../../support/users.js';

let instances: Instances;
beforeAll(async () => {
  instances = await startInstances();
});
afterAll(() => instances.close());

const {
  person,
  enrolPasskey,
  change,
  lock,
  runSql,
  byName,
  bySms,
  byMail,
  byPasskey,
  byGoogle,
  newUser,
  newUserWithPhone,
  lockByGuesses,
  byLinkedAccount,
  newUserWithApp,
  startSms,
} = createSituations(() => instances);

const situations: readonly Situation[] = [
  ['a code by SMS', async () => bySms(await newUserWithPhone()), []],
  [
    'a code by SMS and an authenticator app',
    async () => {
      const { user, totp } = await newUserWithApp();
      return { ...bySms(user), totp };
    },
    [],
  ],
  ['no phone number', async () => ({ ...byName(await newUser()), authenticator: 'sms' }), ['no_phone']],
  [
    'a second code within a minute',
    async () => {
      const user = await newUserWithPhone();
      await startSms(instances.base, user.phone);
      return bySms(user);
    },
    ['code_limit_minute'],
  ],
  [
    'five codes in an hour',
    async () => {
      const user = await newUserWithPhone();
      await startSms(instances.base, user.phone);
      const times = `(select array_agg(db_now() - n * interval '2 minutes' order by n) from generate_series(1, 5) n)`;
      await runSql(`update message_limits set sent_at = ${times} where updated_at = db_now() and $1 <> ''`, [user.id]);
      return bySms(user);
    },
    ['code_limit_hour'],
  ],
  [
    'a second code to the same number, through another identity',
    async () => {
      const user = await newUserWithPhone();
      await startSms(instances.base, user.phone);
      // The login has the username, because without an identity the diagnosis assumes the phone number.
      return { authenticator: 'sms', identity: { type: 'username', value: user.username } };
    },
    ['recipient_limit'],
  ],
  [
    'an address with too many codes',
    async () => {
      const address = newAddress();
      await startSms(instances.strict, (await newUserWithPhone()).phone, address);
      return { ...bySms(await newUserWithPhone()), on: instances.strict, address };
    },
    ['address_code_limit'],
  ],
  [
    'a prefix with too many SMS',
    async () => {
      const phone = (last: number) => `+4477009001${String(last).padStart(2, '0')}`;
      for (const last of [1, 2]) await startSms(instances.strict, (await newUser({ phone: phone(last) })).phone);
      return { ...bySms(await newUser({ phone: phone(3) })), on: instances.strict };
    },
    ['sms_prefix_limit'],
  ],
  [
    'an installation with too many SMS',
    async () => {
      await startSms(instances.frugal, (await newUserWithPhone()).phone);
      return { ...bySms(await newUserWithPhone()), on: instances.frugal };
    },
    ['sms_total_limit'],
  ],
  [
    'an installation without SMS',
    async () => ({ ...bySms(await newUserWithPhone()), on: instances.rotated }),
    ['not_configured'],
  ],
  [
    'a code by SMS after wrong secrets',
    async () => {
      const user = await newUserWithPhone();
      await lockByGuesses(byName(user));
      return bySms(user);
    },
    ['new_devices_locked_by_guesses'],
  ],
  [
    'a code by SMS to a deactivated user',
    async () => {
      const user = await newUserWithPhone();
      await change(user, { status: 'deactivated' });
      return bySms(user);
    },
    ['deactivated'],
  ],
  [
    'a code by SMS to a user whom an operator locked',
    async () => {
      const user = await newUserWithPhone();
      await lock(user, { permanent: true });
      return bySms(user);
    },
    ['locked_by_operator'],
  ],
  [
    'a code by SMS to a number that nobody has',
    async () => ({ authenticator: 'sms', identity: { type: 'phone', value: newPhone() } }),
    ['unknown_identity'],
  ],
  ['a code by mail', async () => byMail(await newUser({ email: newEmail() })), []],
  ['no mail address', async () => ({ ...byName(await newUser()), authenticator: 'email' }), ['no_email']],
  [
    'a passkey',
    async () => {
      const who = await person();
      return { ...byPasskey(who.user), passkey: (await enrolPasskey(who)).authenticator };
    },
    [],
  ],
  ['no passkey', async () => byPasskey(await newUser()), ['no_passkey']],
  [
    'a passkey after wrong secrets',
    async () => {
      const who = await person();
      const { authenticator: passkey } = await enrolPasskey(who);
      await lockByGuesses(byName(who.user));
      return { ...byPasskey(who.user), passkey };
    },
    ['new_devices_locked_by_guesses'],
  ],
  [
    'a passkey of a deactivated user after wrong secrets',
    async () => {
      const who = await person();
      const { authenticator: passkey } = await enrolPasskey(who);
      await lockByGuesses(byName(who.user));
      await change(who.user, { status: 'deactivated' });
      return { ...byPasskey(who.user), passkey };
    },
    ['deactivated', 'new_devices_locked_by_guesses'],
  ],
  ['an account of a provider', async () => byLinkedAccount(await newUser()), []],
  ['no account of a provider', async () => byGoogle(await newUser()), ['no_external_identity']],
  [
    'an account of a provider and an authenticator app',
    async () => {
      const { user, totp } = await newUserWithApp();
      return { ...(await byLinkedAccount(user)), totp };
    },
    [],
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
