import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { session } from '../../api/client.js';
import {
  answerLogin,
  isWrongSecret,
  logInWithPasskey,
  type PendingLogin,
  type Step,
  startWithPassword,
  thisDevice,
  usedCodeMessage,
} from '../../api/login.js';
import { hasPasskeys, signChallenge } from '../../api/passkeys.js';
import { ProblemError } from '../../api/problem.js';
import { entryQuery } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { CodeField, Field, Switch } from '../../components/field/field.js';
import { Notice, Problem } from '../../components/state/state.js';
import { keepsCookies } from '../../lib/cookies.js';
import { westernDigits } from '../../lib/digits.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { FactorStep } from '../set-up/factor.js';
import { RecoveryCodes } from '../set-up/recovery-codes.js';
import styles from './sign-in.module.css';

type Factor = 'code' | 'recovery' | 'passkey';
type Pending = { readonly login: PendingLogin; readonly who: string };

interface FormProps {
  /** Whether the form shows its title, because it is the only content of the page. */
  readonly hasTitle?: boolean;
  /** Who was signed in. */
  readonly identity?: string;
}

/** The login: password or passkey, then the second factor, then the session of the console. */
export function SignInForm({ hasTitle = false, identity }: FormProps) {
  const text = useText();
  const { data: entry } = useQuery(entryQuery);
  const [pending, setPending] = useState<Pending>();
  const [error, setError] = useState<ReactNode>();
  const [busy, setBusy] = useState(false);
  const [enrolled, setEnrolled] = useState<Extract<Step, { status: 'approved' }>>();
  const device = thisDevice(entry?.device_id ?? null);

  /** Runs one step of the login. @param wrongText what to show if the secret was wrong */
  async function run(
    step: () => Promise<Step>,
    who: string,
    wrongText: string,
    onFailure?: (error: unknown) => void,
  ): Promise<boolean> {
    setBusy(true);
    setError(undefined);
    try {
      const next = await step();
      if (next.status === 'pending') setPending({ login: next.login, who });
      else if (next.status === 'approved' && next.recoveryCodes.length > 0) setEnrolled(next);
      else if (next.status === 'approved') await session.start(next.token);
      else
        setError(
          <Notice kind="bad" live>
            {wrongText}
          </Notice>,
        );
      return next.status !== 'rejected';
    } catch (failure) {
      if (onFailure !== undefined) onFailure(failure);
      else setError(<Failure error={failure} wrong={wrongText} />);
      return false;
    } finally {
      setBusy(false);
    }
  }

  if (enrolled !== undefined) {
    const start = () =>
      session.start(enrolled.token).catch((failure: unknown) => {
        setEnrolled(undefined);
        setPending(undefined);
        setError(<Failure error={failure} wrong={text.signIn.refused} />);
      });
    return <RecoveryCodes isInCard codes={enrolled.recoveryCodes} onDone={() => void start()} />;
  }
  if (pending === undefined) {
    return (
      <FirstStep
        {...{ hasTitle, busy, error, identity }}
        takesPin={entry?.takes_pin === true}
        onPassword={(input) => void run(() => startWithPassword(input, device), input.identity, text.signIn.refused)}
        onPasskey={() => void run(() => logInWithPasskey(device), '', text.signIn.passkeyFailed)}
      />
    );
  }
  return (
    <SecondStep
      {...{ hasTitle, busy, error }}
      {...pending}
      onSecret={(secret, wrong, onFailure) =>
        run(async () => answerLogin(pending.login.id, await secret()), pending.who, wrong, onFailure)
      }
      onRestart={() => {
        setPending(undefined);
        setError(undefined);
      }}
    />
  );
}

/** Why a login did not go on. `wrong`: what to show if the secret was wrong; `undefined` as error means this too. */
export function Failure({ error, wrong }: { error: unknown; wrong: string }) {
  const { signIn } = useText();
  if (error instanceof DOMException)
    return (
      <Notice kind="bad" live>
        {signIn.passkeyFailed}
      </Notice>
    );
  const code = error instanceof ProblemError ? error.code : '';
  if (code === 'second_factor_required') {
    return (
      <Notice kind="locked" live>
        {signIn.noSecondFactor} <code>postern operators invite</code> {signIn.onServer}
      </Notice>
    );
  }
  if (code === 'role_required')
    return (
      <Notice kind="locked" live>
        {signIn.noRole}
      </Notice>
    );
  if (code === 'role_not_active')
    return (
      <Notice kind="locked" live>
        {signIn.roleInactive}
      </Notice>
    );
  if (error === undefined || isWrongSecret(error))
    return (
      <Notice kind="bad" live>
        {usedCodeMessage(error) ?? wrong}
      </Notice>
    );
  return <Problem error={error} />;
}

interface FirstProps {
  readonly hasTitle: boolean;
  readonly busy: boolean;
  readonly error: ReactNode;
  readonly identity: string | undefined;
  readonly onPassword: (input: { identity: string; password: string; pin?: string }) => void;
  /** Whether a login can have a PIN. */
  readonly takesPin?: boolean;
  /** Without it, a passkey is not offered. */
  readonly onPasskey?: () => void;
}

/** The name and the password, or a passkey. */
export function FirstStep({ hasTitle, busy, error, identity, takesPin = false, onPassword, onPasskey }: FirstProps) {
  const { signIn } = useText();
  const [isShown, setShown] = useState(false);
  const [hasPin, setHasPin] = useState(false);
  const [refusesCookies] = useState(() => !keepsCookies());
  return (
    <form
      className={layout.stack16}
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const value = (name: string) => String(data.get(name) ?? '');
        if (busy) return;
        onPassword({
          identity: value('username'),
          password: value('password'),
          ...(hasPin && { pin: westernDigits(value('pin')) }),
        });
      }}
    >
      {hasTitle && <h1>{signIn.title}</h1>}
      {refusesCookies && <Notice kind="warn">{signIn.noCookies}</Notice>}
      <Field
        label={signIn.identity}
        name="username"
        autoComplete="username"
        autoCapitalize="off"
        spellCheck={false}
        required
        defaultValue={identity}
        data-first-focus={identity === undefined || undefined}
        autoFocus={hasTitle}
      />
      <Field
        label={signIn.password}
        name="password"
        type={isShown ? 'text' : 'password'}
        autoComplete="current-password"
        required
        data-first-focus={identity !== undefined || undefined}
      />
      {hasPin && (
        <Field label={signIn.pin} name="pin" type="password" inputMode="numeric" autoComplete="off" required />
      )}
      <div className={styles.switches}>
        <Switch label={signIn.show} checked={isShown} onChange={(event) => setShown(event.currentTarget.checked)} />
        {takesPin && (
          <Switch
            label={signIn.havePin}
            checked={hasPin}
            onChange={(event) => setHasPin(event.currentTarget.checked)}
          />
        )}
      </div>
      {error}
      <Button type="submit" kind="main" busy={busy} className={styles.wide}>
        {signIn.submit}
      </Button>
      {onPasskey !== undefined && hasPasskeys() && (
        <Button icon="passkey" onClick={onPasskey} disabled={busy} className={styles.wide}>
          {signIn.usePasskey}
        </Button>
      )}
    </form>
  );
}

interface SecondProps extends Pending {
  readonly hasTitle: boolean;
  readonly busy: boolean;
  readonly error: ReactNode;
  /** @param onFailure called with the error instead of showing it */
  readonly onSecret: (
    secret: () => Promise<string>,
    wrong: string,
    onFailure?: (error: unknown) => void,
  ) => Promise<boolean>;
  readonly onRestart: () => void;
}

/** A step of a login after the first: a code, another password, the enrolment of a factor, or the second factor. */
export function SecondStep(props: SecondProps) {
  const { login, onSecret } = props;
  const { setUp } = useText();
  const [failure, setFailure] = useState<unknown>();
  if (login.asks === 'factor') return <FactorForm {...props} />;
  if (login.asks !== 'enrolment') return <SecretForm key={login.asks} {...props} />;
  return (
    <div className={layout.stack16}>
      <div>
        {props.hasTitle ? <h1>{setUp.factor}</h1> : <h3>{setUp.factor}</h3>}
        <p className={styles.explanation}>{setUp.factorWhy}</p>
      </div>
      <FactorStep
        factor={login.factor}
        busy={props.busy}
        failure={failure}
        onKind={() => setFailure(undefined)}
        onComplete={({ code, response }) => void onSecret(async () => code ?? JSON.stringify(response), '', setFailure)}
      />
    </div>
  );
}

/** A code that was sent to the user, or another password. */
function SecretForm({ hasTitle, busy, error, login, onSecret, onRestart }: SecondProps) {
  const { signIn } = useText();
  const [value, setValue] = useState('');
  const isCode = login.asks === 'code';
  const title = isCode ? signIn.codeTitle : signIn.newPasswordTitle;
  const submit = async (secret: string) => {
    if (!busy && !(await onSecret(async () => secret, signIn.codeWrong)) && isCode) setValue('');
  };
  return (
    <form
      className={layout.stack16}
      onSubmit={(event) => {
        event.preventDefault();
        void submit(isCode ? westernDigits(value) : value);
      }}
    >
      <div>
        {hasTitle ? <h1>{title}</h1> : <h3>{title}</h3>}
        <p className={styles.explanation}>
          {isCode ? signIn.sentTo : signIn.newPasswordWhy}{' '}
          {isCode && <strong className={styles.destination}>{login.destination}</strong>}
        </p>
      </div>
      {isCode ? (
        <CodeField
          label={signIn.sentCode}
          value={value}
          onChange={setValue}
          onComplete={(code) => void submit(code)}
          disabled={busy}
          hasInitialFocus
        />
      ) : (
        <Field
          label={signIn.newPassword}
          type="password"
          autoComplete="new-password"
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          required
          autoFocus
        />
      )}
      {error}
      <Button type="submit" kind="main" busy={busy} className={styles.wide}>
        {signIn.submit}
      </Button>
      <div className={styles.choices}>
        <button type="button" onClick={onRestart}>
          {signIn.startAgain}
        </button>
      </div>
    </form>
  );
}

/** The second factor of a login. */
function FactorForm({ hasTitle, busy, error, login, who, onSecret, onRestart }: SecondProps) {
  const { signIn } = useText();
  const [factor, setFactor] = useState<Factor>(login.takesCode ? 'code' : 'passkey');
  const [value, setValue] = useState('');
  const words = {
    code: [signIn.codeTitle, signIn.codeFor, signIn.codeWrong],
    recovery: [signIn.recoveryTitle, signIn.recoveryFor, signIn.recoveryWrong],
    passkey: [signIn.passkeyTitle, signIn.passkeyFor, signIn.passkeyFailed],
  } as const;
  const [title, explanation, wrong] = words[factor];
  const otherFactors = (
    [
      ['code', signIn.useCode, login.takesCode],
      ['passkey', signIn.usePasskey, login.passkey !== undefined && hasPasskeys()],
      ['recovery', signIn.useRecovery, login.takesRecoveryCode],
    ] as const
  ).filter(([other, , isPossible]) => isPossible && other !== factor);

  async function submit(secret: string): Promise<void> {
    if (busy) return;
    const getText = factor === 'passkey' ? () => signChallenge(login.passkey) : async () => secret;
    if (!(await onSecret(getText, wrong))) setValue('');
  }

  return (
    <form
      className={layout.stack16}
      onSubmit={(event) => {
        event.preventDefault();
        void submit(westernDigits(value.trim()));
      }}
    >
      <div>
        {hasTitle ? <h1>{title}</h1> : <h3>{title}</h3>}
        <p className={styles.explanation}>
          {explanation} <strong dir="auto">{who}</strong>.
        </p>
      </div>
      {factor === 'code' && (
        <CodeField
          label={signIn.code}
          value={value}
          onChange={setValue}
          onComplete={(code) => void submit(code)}
          disabled={busy}
          hasInitialFocus
        />
      )}
      {factor === 'recovery' && (
        <Field
          label={signIn.recovery}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          verbatim
          autoFocus
        />
      )}
      {error}
      <Button
        type="submit"
        kind="main"
        busy={busy}
        disabled={factor === 'code' ? value.length < 6 : factor === 'recovery' && value.trim() === ''}
        className={styles.wide}
      >
        {factor === 'passkey' ? signIn.usePasskey : signIn.submit}
      </Button>
      <div className={styles.choices}>
        {otherFactors.map(([other, name]) => (
          <button
            key={other}
            type="button"
            onClick={() => {
              setFactor(other);
              setValue('');
            }}
          >
            {name}
          </button>
        ))}
        <button type="button" onClick={onRestart}>
          {signIn.startAgain}
        </button>
      </div>
    </form>
  );
}
