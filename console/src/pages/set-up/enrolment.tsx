import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { activateRole, type Enrolling, finishEnrolment, openSession, startEnrolment } from '../../api/enrolment.js';
import { answer, type PendingLogin, type Step, startWithPassword, thisDevice } from '../../api/login.js';
import type { GetAccountData, GetAccountResponse } from '../../api/schema.js';
import type { SetUpFactor } from '../../api/set-up.js';
import { entryQuery } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { CodeField } from '../../components/field/field.js';
import { useText } from '../../text/text.js';
import { Failure, FirstStep, SecondStep } from '../sign-in/form.js';
import { FactorStep } from './factor.js';
import { RecoveryCodes } from './recovery-codes.js';
import styles from './set-up.module.css';

type State =
  /** The login has not begun. */
  | { readonly is: 'signed-out' }
  /** The login needs its second step. */
  | { readonly is: 'pending'; readonly login: PendingLogin; readonly who: string }
  /** The user has no second factor yet. */
  | { readonly is: 'enrolling'; readonly as: Enrolling; readonly factor: SetUpFactor }
  /** The user has a second factor, and must prove it again to activate the role. */
  | { readonly is: 'proving'; readonly as: Enrolling; readonly hasApp: boolean }
  | { readonly is: 'done'; readonly codes: readonly string[] };

/**
 * The page behind a link that gives a role to an existing user. The role takes effect when the user has proved a second
 * factor.
 */
export function Enrolment({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { setUp, signIn } = useText();
  const { data: entry } = useQuery(entryQuery);
  const [state, setState] = useState<State>({ is: 'signed-out' });
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [code, setCode] = useState('');

  async function run(work: () => Promise<void>): Promise<boolean> {
    setBusy(true);
    setFailure(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      setFailure(error);
      setCode('');
      return false;
    } finally {
      setBusy(false);
    }
  }

  /** Continues after a step of the login. @param entered the password of the first step */
  async function continueAfter(step: Step, who: string, entered: string): Promise<void> {
    if (step.is === 'rejected') throw new WrongSecret();
    if (step.is === 'pending') return setState({ is: 'pending', login: step.login, who });
    const as = await openSession(step.token);
    const account = await request<GetAccountData, GetAccountResponse>('GET', '/v1/account', { as });
    const kinds = account.second_factors.map(({ type }) => type);
    if (kinds.length > 0) setState({ is: 'proving', as, hasApp: kinds.includes('totp') });
    else setState({ is: 'enrolling', as, factor: await startEnrolment(as, 'totp', { password: entered, secret }) });
  }

  const error = failure !== undefined && <EnrolmentFailure of={failure} />;
  if (state.is === 'done') {
    if (state.codes.length > 0) return <RecoveryCodes codes={state.codes} onDone={onDone} />;
    return (
      <section className={styles.card}>
        <div className={styles.recovery}>
          <h1>{setUp.roleActive}</h1>
          <p>{setUp.roleActiveWhy}</p>
          <Button kind="main" onClick={onDone}>
            {setUp.toSignIn}
          </Button>
        </div>
      </section>
    );
  }
  return (
    <>
      <header className={styles.head}>
        <h1>{setUp.roleTitle}</h1>
        <p>{setUp.roleWhy}</p>
      </header>
      <section className={styles.card}>
        <div className={styles.single}>
          {state.is === 'signed-out' && (
            <FirstStep
              {...{ busy, error, titled: false, identity: undefined }}
              onPassword={(given) => {
                setPassword(given.password);
                const device = thisDevice(entry?.device_id ?? null);
                void run(async () =>
                  continueAfter(await startWithPassword(given, device), given.identity, given.password),
                );
              }}
            />
          )}
          {state.is === 'pending' && (
            <SecondStep
              {...{ busy, error, titled: false, login: state.login, who: state.who }}
              onSecret={(get) =>
                run(async () => continueAfter(await answer(state.login.id, await get()), state.who, password))
              }
              onRestart={() => setState({ is: 'signed-out' })}
            />
          )}
          {state.is === 'enrolling' && (
            <>
              <h2>{setUp.factor}</h2>
              <FactorStep
                {...{ busy, failure, factor: state.factor }}
                onKind={(kind) =>
                  void run(async () => {
                    setState({ ...state, factor: await startEnrolment(state.as, kind, { password, secret }) });
                  })
                }
                onComplete={(proof) =>
                  void run(async () => {
                    setState({ is: 'done', codes: await finishEnrolment(state.as, state.factor.id, proof) });
                  })
                }
              />
            </>
          )}
          {state.is === 'proving' && (
            <form
              className={styles.fields}
              onSubmit={(event) => {
                event.preventDefault();
                void run(async () => {
                  await activateRole(state.as, secret, state.hasApp ? code : undefined);
                  setState({ is: 'done', codes: [] });
                });
              }}
            >
              <p>{state.hasApp ? setUp.nextCode : signIn.passkeyTitle}</p>
              {state.hasApp && (
                <CodeField label={signIn.code} value={code} onChange={setCode} onComplete={setCode} focused />
              )}
              {error}
              <Button type="submit" kind="main" busy={busy} disabled={state.hasApp && code.length < 6}>
                {setUp.activate}
              </Button>
            </form>
          )}
        </div>
      </section>
    </>
  );
}

/** The login was rejected: the password, or the secret of the second step, was wrong. */
class WrongSecret extends Error {}

function EnrolmentFailure({ of }: { of: unknown }) {
  const { signIn } = useText();
  return <Failure of={of instanceof WrongSecret ? undefined : of} wrong={signIn.refused} />;
}
