import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../../../src/contract/account/account.js';
import type { StartedProof } from '../../../../src/contract/account/proof.js';
import { byPassword, createSelfService, type Person } from '../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { createFactors } from '../../../support/factors.js';
import { createRecoverySteps } from '../../../support/recovery.js';
import { newEmail } from '../../../support/users.js';

const env = {
  ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', SESSION_TTL: '30d' },
  ...{ GUESS_LIMIT: '5', GUESS_LOCK: '1h' },
};
let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp(env);
});
afterEach(() => setClockAhead('0'));
afterAll(() => postern.close());

const { person, ask, refused, byCode } = createSelfService(() => postern);
const { acceptedPins, setClockAhead } = createRecoverySteps(() => postern);

const owner = (fields: object = {}) => person({ pin: '2468', email: newEmail(), ...fields });

describe('in a session', () => {
  const notByCode = [422, 'proof.type invalid_choice'];

  test('a code can neither replace nor remove a PIN; the password can do both at once', async () => {
    const who = await owner();
    const proof = await byCode(who);
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof })).toEqual(notByCode);
    expect(await refused(who, 'DELETE', '/pin', { proof })).toEqual(notByCode);
    expect((await ask(who, 'PUT', '/pin', { pin: '1357', proof: byPassword })).status).toBe(200);
    expect(await acceptedPins(who)).toEqual(['1357']);
  });

  test('a code sets a first PIN, unless a PIN was set meanwhile', async () => {
    const who = await person();
    const proof = await byCode(who);
    const [set, raced] = await Promise.all([
      ask(who, 'PUT', '/pin', { pin: '2468', proof: byPassword }),
      ask(who, 'PUT', '/pin', { pin: '1357', proof }),
    ]);
    expect(set.status).toBe(200);
    // In either order, the PIN is in the end the one that was set with the password.
    expect([200, 400, 422]).toContain(raced.status);
    expect(await acceptedPins(who)).toEqual(['2468']);
  });

  test('a password that a code has set cannot change the PIN during the delay; the PIN can', async () => {
    const who = await owner();
    const stolen = 'nine dull horses';
    const set = { password: stolen, current_password: byPassword.secret, proof: await byCode(who) };
    expect((await ask(who, 'PUT', '/password', set)).status).toBe(200);
    const byStolen = { type: 'password', secret: stolen };
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof: byStolen })).toEqual(notByCode);
    expect(await refused(who, 'DELETE', '/pin', { proof: byStolen })).toEqual(notByCode);
    const byPin = { type: 'pin', secret: '2468' };
    expect((await ask(who, 'PUT', '/pin', { pin: '9876', proof: byPin })).status).toBe(200);
    await setClockAhead('24 hours 1 second');
    expect((await ask(who, 'PUT', '/pin', { pin: '1357', proof: byStolen })).status).toBe(200);
  });

  test('a passkey that a code has enrolled cannot change the PIN during the delay', async () => {
    const { enrolPasskey } = createFactors(() => postern);
    const who = await owner();
    expect((await enrolPasskey(who, { proof: await byCode(who) })).status).toBe(201);
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof: byPassword })).toEqual(notByCode);
    const trusted = await owner();
    expect((await enrolPasskey(trusted)).status).toBe(201);
    expect((await ask(trusted, 'PUT', '/pin', { pin: '1357', proof: byPassword })).status).toBe(200);
  });
});

describe.each(['own', 'required'])('a factor and the PIN, with SECOND_FACTOR=%s', (policy) => {
  let strict: TestApp;
  beforeAll(async () => {
    strict = await postern.another({ SECOND_FACTOR: policy });
  });
  afterAll(() => strict.close());
  // Users come from before the policy: with `required`, nobody without a factor could log in.
  const self = { ...createSelfService(() => strict), person };
  const factors = createFactors(() => strict);
  const byPin = { type: 'pin', secret: '2468' };
  const onlyThePin = [422, [{ field: 'proof.type', code: 'invalid_choice', message: 'This must be one of: pin.' }]];

  type Changed = Account & Pick<ProblemAnswer, 'errors'>;
  type FactorProof = () => Promise<object>;
  /** Each enrols a factor, and returns a function that creates proofs with it. */
  const enrolments = {
    totp: async (who: Person, proof: object): Promise<FactorProof> => {
      const { recoveryCodes } = await factors.enrolTotp(who, proof);
      return async () => ({ type: 'totp', secret: recoveryCodes.pop() });
    },
    passkey: async (who: Person, proof: object): Promise<FactorProof> => {
      const { authenticator } = await factors.enrolPasskey(who, { proof });
      return async () => {
        const { body } = await self.ask<StartedProof>(who, 'POST', '/proofs', { type: 'passkey' });
        return { type: 'passkey', id: body.id, secret: authenticator.sign(body.challenge ?? {}) };
      };
    },
  };
  const sources = {
    'a code': self.byCode,
    'a password that a code has set': async (who: Person) => {
      const stolen = 'nine dull horses';
      const set = { password: stolen, current_password: byPassword.secret, proof: await self.byCode(who) };
      expect((await self.ask(who, 'PUT', '/password', set)).status).toBe(200);
      return { type: 'password', secret: stolen };
    },
  };
  const changes = {
    PUT: (who: Person, proof: object) => self.ask<Changed>(who, 'PUT', '/pin', { pin: '1357', proof }),
    DELETE: (who: Person, proof: object) => self.ask<Changed>(who, 'DELETE', '/pin', { proof }),
  };
  const names = <Name extends string>(choices: Record<Name, unknown>) => Object.keys(choices) as Name[];
  /** Every two of a factor, a source and a change meet. With the other policy, the other half of all combinations. */
  const combinations = names(enrolments).flatMap((factor, x) =>
    names(sources).flatMap((source, y) =>
      names(changes).flatMap((change, z) =>
        (x + y + z) % 2 === (policy === 'own' ? 0 : 1) ? [[factor, source, change] as const] : [],
      ),
    ),
  );

  test.each(combinations)(
    'a %s enrolled by %s does not %s the PIN during the delay',
    async (factor, source, change) => {
      const who = await self.person({ pin: '2468' });
      const proofOf = await enrolments[factor](who, await sources[source](who));
      const early = await changes[change](who, await proofOf());
      expect([early.status, early.body.errors]).toEqual(onlyThePin);
      expect((await self.ask<Account>(who, 'GET', '')).body.has_pin).toBe(true);
      await setClockAhead('23 hours 59 minutes');
      const late = await changes[change](who, await proofOf());
      expect([late.status, late.body.errors]).toEqual(onlyThePin);
      await setClockAhead('24 hours 1 second');
      expect((await changes[change](who, await proofOf())).status).toBe(200);
    },
  );

  test.each(combinations)('with a %s enrolled by %s, the PIN can %s the PIN', async (factor, source, change) => {
    const who = await self.person({ pin: '2468' });
    await enrolments[factor](who, await sources[source](who));
    const changed = await changes[change](who, byPin);
    expect([changed.status, changed.body.has_pin]).toEqual([200, change === 'PUT']);
  });

  test.each(names(enrolments).flatMap((factor) => names(changes).map((change) => [factor, change] as const)))(
    'a %s enrolled by the old password does %s the PIN at once',
    async (factor, change) => {
      const who = await self.person({ pin: '2468' });
      const proofOf = await enrolments[factor](who, byPassword);
      const changed = await changes[change](who, await proofOf());
      expect([changed.status, changed.body.has_pin]).toEqual([200, change === 'PUT']);
    },
  );

  test('a code cannot enrol a factor beside a second factor, and so cannot change the PIN', async () => {
    const who = await self.person({ pin: '2468' });
    const code = await self.byCode(who);
    const proofOf = await enrolments.totp(who, byPassword);
    expect(await self.refused(who, 'POST', '/passkeys', { proof: code })).toEqual([422, 'proof.type invalid_choice']);
    expect((await changes.PUT(who, await proofOf())).status).toBe(200);
  });
});

test('recovery codes that a code has created cannot change the PIN during the delay', async () => {
  const factors = createFactors(() => postern);
  const who = await owner();
  await factors.enrolPasskey(who);
  // No login needs this passkey, so it is no second factor, and a code is a valid proof.
  const created = await ask<{ recovery_codes: string[] }>(who, 'POST', '/recovery-codes', { proof: await byCode(who) });
  expect(created.status).toBe(201);
  await factors.enrolTotp(who);
  const proof = { type: 'totp', secret: created.body.recovery_codes[0] };
  expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof })).toEqual([422, 'proof.type invalid_choice']);
});
