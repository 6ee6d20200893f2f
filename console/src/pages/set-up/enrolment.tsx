import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
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

type PendingState = Extract<State, { status: 'pending' }>;
type EnrollingState = Extract<State, { status: 'enrolling' }>;
type ProvingState = Extract<State, { status: 'proving' }>;
type State =
  /** The login has not begun. */
  | { readonly status: 'signed-out' }
  /** The login needs its second step. */
  | { readonly status: 'pending'; readonly login: PendingLogin; readonly who: string }
  /** The user has no second factor yet. */
  | { readonly status: 'enrolling'; readonly authorization: EnrolmentAuthorization; readonly factor: SetUpFactor }
  /** The user has a second factor, and must prove it again to activate the role. */
  | { readonly status: 'proving'; readonly authorization: EnrolmentAuthorization; readonly hasApp: boolean }
  /** The login has enrolled a factor, because SECOND_FACTOR requires one. */
  | { readonly status: 'enrolled'; readonly codes: readonly string[]; readonly next: ProvingState }
  | { readonly status: 'done'; readonly codes: readonly string[] };

/** The steps of an enrolment, and what the current one waits for. @param secret the secret of the link */
function useEnrolment(secret: string) {
  const { data: entry } = useQuery(entryQuery);
  const [state, setState] = useState<State>({ status: 'signed-out' });
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);

  async function run(work: () => Promise<void>): Promise<boolean> {
    setBusy(true);
    setFailure(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      setFailure(error);
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
    if (kinds.length > 0) {
      const next = { status: 'proving', authorization, hasApp: kinds.includes('totp') } as const;
      const codes = step.recoveryCodes;
      setState(codes.length > 0 ? { status: 'enrolled', codes, next } : next);
    } else
      setState({
        status: 'enrolling',
        authorization,
        factor: await startEnrolment(authorization, 'totp', { password: entered, secret }),
      });
  }

  return {
    state,
    busy,
    failure,
    proceed: setState,
    restart: () => setState({ status: 'signed-out' }),
    enterPassword(input: Parameters<typeof startWithPassword>[0]) {
      setPassword(input.password);
      const device = thisDevice(entry?.device_id ?? null);
      return run(async () => continueAfter(await startWithPassword(input, device), input.identity, input.password));
    },
    enterSecret: ({ login, who }: PendingState, get: () => Promise<string>) =>
      run(async () => continueAfter(await answerLogin(login.id, await get()), who, password)),
    chooseFactor: (enrolling: EnrollingState, kind: Parameters<typeof startEnrolment>[1]) =>
      run(async () => {
        const factor = await startEnrolment(enrolling.authorization, kind, { password, secret });
        setState({ ...enrolling, factor });
      }),
    finish: ({ authorization, factor }: EnrollingState, proof: Parameters<typeof finishEnrolment>[2]) =>
      run(async () => setState({ status: 'done', codes: await finishEnrolment(authorization, factor.id, proof) })),
    /** @param code of the authenticator app. Undefined: the user proves a passkey */
    activate: ({ authorization }: ProvingState, code: string | undefined) =>
      run(async () => {
        await activateRole(authorization, secret, code);
        setState({ status: 'done', codes: [] });
      }),
  };
}

/**
 * The page behind a link that gives a role to an existing user. The role takes effect when the user has proved a second
 * factor.
 */
export function Enrolment({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { setUp } = useText();
  const enrolment = useEnrolment(secret);
  const { state, busy, failure } = enrolment;
  const error = failure !== undefined && <EnrolmentFailure error={failure} />;
  if (state.status === 'done') {
    if (state.codes.length > 0) return <RecoveryCodes codes={state.codes} onDone={onDone} />;
    return <RoleActive onDone={onDone} />;
  }
  if (state.status === 'enrolled') {
    return <RecoveryCodes codes={state.codes} action={setUp.next} onDone={() => enrolment.proceed(state.next)} />;
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
              onPassword={(input) => void enrolment.enterPassword(input)}
            />
          )}
          {state.status === 'pending' && (
            <SecondStep
              {...{ busy, error, hasTitle: false, login: state.login, who: state.who }}
              onSecret={(get) => enrolment.enterSecret(state, get)}
              onRestart={enrolment.restart}
            />
          )}
          {state.status === 'enrolling' && (
            <>
              <h2>{setUp.factor}</h2>
              <FactorStep
                {...{ busy, failure, factor: state.factor }}
                onKind={(kind) => void enrolment.chooseFactor(state, kind)}
                onComplete={(proof) => void enrolment.finish(state, proof)}
              />
            </>
          )}
          {state.status === 'proving' && (
            <SecondFactor
              {...{ busy, error, hasApp: state.hasApp }}
              onProve={(code) => enrolment.activate(state, code)}
            />
          )}
        </div>
      </section>
    </>
  );
}

interface SecondFactorProps {
  readonly busy: boolean;
  readonly error: ReactNode;
  /** Whether the second factor is an authenticator app, and not a passkey. */
  readonly hasApp: boolean;
  /** @returns whether the factor was right */
  readonly onProve: (code: string | undefined) => Promise<boolean>;
}

/** Proves the second factor that the user already has. */
function SecondFactor({ busy, error, hasApp, onProve }: SecondFactorProps) {
  const { setUp, signIn } = useText();
  const [code, setCode] = useState('');
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        void onProve(hasApp ? code : undefined).then((isRight) => !isRight && setCode(''));
      }}
    >
      <p>{hasApp ? setUp.nextCode : signIn.passkeyTitle}</p>
      {hasApp && <CodeField label={signIn.code} value={code} onChange={setCode} onComplete={setCode} hasInitialFocus />}
      {error}
      <Button type="submit" kind="main" busy={busy} disabled={hasApp && code.length < 6}>
        {setUp.activate}
      </Button>
    </form>
  );
}

function RoleActive({ onDone }: { onDone: () => void }) {
  const { setUp } = useText();
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

/** The login was rejected: the password, or the secret of the second step, was wrong. */
class WrongSecret extends Error {}

function EnrolmentFailure({ error }: { error: unknown }) {
  const { signIn } = useText();
  return <Failure error={error instanceof WrongSecret ? undefined : error} wrong={signIn.refused} />;
}
