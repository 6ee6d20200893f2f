import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import {
  activateRole,
  type EnrolmentAuthorization,
  finishEnrolment,
  openSession,
  startEnrolment,
} from '../../api/enrolment.js';
import { answerLogin, type PendingLogin, type Step, startWithPassword, thisDevice } from '../../api/login.js';
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
  | { readonly status: 'signed-out' }
  /** The login needs its second step. */
  | { readonly status: 'pending'; readonly login: PendingLogin; readonly who: string }
  /** The user has no second factor yet. */
  | { readonly status: 'enrolling'; readonly authorization: EnrolmentAuthorization; readonly factor: SetUpFactor }
  /** The user has a second factor, and must prove it again to activate the role. */
  | { readonly status: 'proving'; readonly authorization: EnrolmentAuthorization; readonly hasApp: boolean }
  | { readonly status: 'done'; readonly codes: readonly string[] };

/**
 * The page behind a link that gives a role to an existing user. The role takes effect when the user has proved a second
 * factor.
 */
export function Enrolment({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { setUp, signIn } = useText();
  const { data: entry } = useQuery(entryQuery);
  const [state, setState] = useState<State>({ status: 'signed-out' });
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
    if (step.status === 'rejected') throw new WrongSecret();
    if (step.status === 'pending') return setState({ status: 'pending', login: step.login, who });
    const authorization = await openSession(step.token);
    const account = await request<GetAccountData, GetAccountResponse>('GET', '/v1/account', { authorization });
    const kinds = account.second_factors.map(({ type }) => type);
    if (kinds.length > 0) setState({ status: 'proving', authorization, hasApp: kinds.includes('totp') });
    else
      setState({
        status: 'enrolling',
        authorization,
        factor: await startEnrolment(authorization, 'totp', { password: entered, secret }),
      });
  }

  const error = failure !== undefined && <EnrolmentFailure error={failure} />;
  if (state.status === 'done') {
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
          {state.status === 'signed-out' && (
            <FirstStep
              {...{ busy, error, hasTitle: false, identity: undefined }}
              onPassword={(input) => {
                setPassword(input.password);
                const device = thisDevice(entry?.device_id ?? null);
                void run(async () =>
                  continueAfter(await startWithPassword(input, device), input.identity, input.password),
                );
              }}
            />
          )}
          {state.status === 'pending' && (
            <SecondStep
              {...{ busy, error, hasTitle: false, login: state.login, who: state.who }}
              onSecret={(get) =>
                run(async () => continueAfter(await answerLogin(state.login.id, await get()), state.who, password))
              }
              onRestart={() => setState({ status: 'signed-out' })}
            />
          )}
          {state.status === 'enrolling' && (
            <>
              <h2>{setUp.factor}</h2>
              <FactorStep
                {...{ busy, failure, factor: state.factor }}
                onKind={(kind) =>
                  void run(async () => {
                    setState({
                      ...state,
                      factor: await startEnrolment(state.authorization, kind, { password, secret }),
                    });
                  })
                }
                onComplete={(proof) =>
                  void run(async () => {
                    setState({
                      status: 'done',
                      codes: await finishEnrolment(state.authorization, state.factor.id, proof),
                    });
                  })
                }
              />
            </>
          )}
          {state.status === 'proving' && (
            <form
              className={styles.fields}
              onSubmit={(event) => {
                event.preventDefault();
                void run(async () => {
                  await activateRole(state.authorization, secret, state.hasApp ? code : undefined);
                  setState({ status: 'done', codes: [] });
                });
              }}
            >
              <p>{state.hasApp ? setUp.nextCode : signIn.passkeyTitle}</p>
              {state.hasApp && (
                <CodeField label={signIn.code} value={code} onChange={setCode} onComplete={setCode} hasInitialFocus />
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

function EnrolmentFailure({ error }: { error: unknown }) {
  const { signIn } = useText();
  return <Failure error={error instanceof WrongSecret ? undefined : error} wrong={signIn.refused} />;
}
