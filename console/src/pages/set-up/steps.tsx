import { type ReactNode, useState } from 'react';
import { thisDevice } from '../../api/login.js';
import { ProblemError } from '../../api/problem.js';
import {
  completeSetUp,
  type NewOperator,
  type SetUpFactor,
  type SetUpLink,
  type SetUpResult,
  startFactor,
} from '../../api/set-up.js';
import { Button } from '../../components/button/button.js';
import { Field, Switch } from '../../components/field/field.js';
import { Icon } from '../../components/icon/icon.js';
import { Problem } from '../../components/state/state.js';
import { UserText } from '../../components/text/values.js';
import { cx } from '../../lib/cx.js';
import { language } from '../../lib/preferences.js';
import { useText } from '../../text/text.js';
import { FactorStep } from './factor.js';
import styles from './set-up.module.css';

interface StepsProps {
  readonly link: SetUpLink;
  readonly secret: string;
  readonly onResult: (result: SetUpResult) => void;
  readonly onLinkEnded: () => void;
}

type StepName = 'you' | 'password' | 'factor';
const order: readonly StepName[] = ['you', 'password', 'factor'];
/** The step of each field that the service can refuse. */
const stepOfField: Record<string, StepName> = { name: 'you', email: 'you', username: 'you', password: 'password' };

/** Three steps: the person, the password, the second factor. One is open, and finished ones are folded. */
export function Steps({ link, secret, onResult, onLinkEnded }: StepsProps) {
  const { setUp } = useText();
  const [step, setStep] = useState<StepName>('you');
  const [form, setForm] = useState({ name: '', email: '', username: '', password: '' });
  const [fieldProblem, setFieldProblem] = useState<ProblemError>();
  const [otherError, setOtherError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [factor, setFactor] = useState<SetUpFactor>();
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const operator: NewOperator = {
    secret,
    name: form.name.trim(),
    password: form.password,
    locale: language.get(),
    ...(form.email.trim() !== '' && { email: form.email.trim() }),
    ...(form.username.trim() !== '' && { username: form.username.trim() }),
  };

  /**
   * Runs a request. If the service refuses a field, opens the step of this field. If the link is no longer valid, calls
   * `onLinkEnded`.
   */
  async function submitStep(call: () => Promise<void>): Promise<void> {
    setBusy(true);
    setFieldProblem(undefined);
    setOtherError(undefined);
    try {
      await call();
    } catch (error) {
      const field = error instanceof ProblemError ? fieldOf(error) : undefined;
      if (error instanceof ProblemError && error.code.startsWith('setup_link_')) onLinkEnded();
      else if (error instanceof ProblemError && field !== undefined) {
        setFieldProblem(error);
        setStep(stepOfField[field] ?? 'you');
      } else setOtherError(error);
    } finally {
      setBusy(false);
    }
  }
  const openFactorStep = (kind: 'totp' | 'passkey') =>
    submitStep(async () => {
      setFactor(await startFactor(operator, kind));
      setStep('factor');
    });
  const complete = (proof: { code?: string; response?: Record<string, unknown> }) =>
    submitStep(async () => {
      if (factor === undefined) return;
      onResult(await completeSetUp(operator, { ...proof, factor_id: factor.id }, thisDevice(null)));
    });

  const names = [form.name.trim(), form.email.trim() || form.username.trim()].filter(Boolean).join(' · ');
  const frame = (name: StepName) => ({
    number: order.indexOf(name) + 1,
    state:
      name === step
        ? ('open' as const)
        : order.indexOf(name) < order.indexOf(step)
          ? ('done' as const)
          : ('later' as const),
    onReopen: () => setStep(name),
  });
  return (
    <section className={styles.card}>
      <StepFrame {...frame('you')} title={setUp.you} summary={names}>
        <YouStep form={form} fieldProblem={fieldProblem} onChange={set} onNext={() => setStep('password')} />
      </StepFrame>
      <StepFrame {...frame('password')} title={setUp.password} summary={setUp.characters([...form.password].length)}>
        <PasswordStep
          value={form.password}
          minLength={link.password_min}
          username={operator.email ?? operator.username ?? ''}
          {...{ fieldProblem, busy }}
          otherError={otherError}
          onChange={(password) => set({ password })}
          onNext={() => void openFactorStep('totp')}
        />
      </StepFrame>
      <StepFrame {...frame('factor')} title={setUp.factor} note={setUp.factorWhy}>
        <FactorStep
          {...{ factor, busy }}
          failure={otherError}
          onKind={(kind) => void openFactorStep(kind)}
          onComplete={(proof) => void complete(proof)}
        />
      </StepFrame>
    </section>
  );
}

function fieldOf(error: ProblemError): string | undefined {
  return error.errors
    .map(({ field }) => field?.replace(/^\//, ''))
    .find((field) => field !== undefined && field in stepOfField);
}

interface FrameProps {
  readonly number: number;
  readonly state: 'open' | 'done' | 'later';
  readonly title: string;
  readonly note?: string;
  readonly summary?: string;
  readonly onReopen: () => void;
  readonly children: ReactNode;
}

function StepFrame({ number, state, title, note, summary, onReopen, children }: FrameProps) {
  const { setUp } = useText();
  return (
    <div className={styles.step}>
      <span className={cx(styles.number, styles[state])} aria-hidden="true">
        {state === 'done' ? <Icon name="check" size={14} /> : number}
      </span>
      <div className={styles.inner}>
        <h2>{title}</h2>
        {state === 'open' && note !== undefined && <p className={styles.note}>{note}</p>}
        {state === 'done' && summary !== undefined && <UserText text={summary} />}
        {state === 'open' && children}
      </div>
      {state === 'done' && (
        <Button kind="ghost" small onClick={onReopen}>
          {setUp.change}
        </Button>
      )}
    </div>
  );
}

interface YouProps {
  readonly form: { readonly name: string; readonly email: string; readonly username: string };
  readonly fieldProblem: ProblemError | undefined;
  readonly onChange: (change: { name?: string; email?: string; username?: string }) => void;
  readonly onNext: () => void;
}

function YouStep({ form, fieldProblem, onChange, onNext }: YouProps) {
  const { setUp } = useText();
  const [showsMissingIdentity, setShowsMissingIdentity] = useState(false);
  const hasNoIdentity = form.email.trim() === '' && form.username.trim() === '';
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        setShowsMissingIdentity(hasNoIdentity);
        if (!hasNoIdentity) onNext();
      }}
    >
      <Field
        label={setUp.name}
        value={form.name}
        required
        maxLength={255}
        autoComplete="name"
        autoFocus
        error={fieldProblem?.messageFor('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Field
        label={setUp.email}
        value={form.email}
        type="email"
        autoComplete="email"
        error={
          fieldProblem?.messageFor('email') ?? (showsMissingIdentity && hasNoIdentity ? setUp.needsIdentity : undefined)
        }
        onChange={(event) => onChange({ email: event.currentTarget.value })}
      />
      <Field
        label={setUp.username}
        value={form.username}
        autoComplete="username"
        autoCapitalize="off"
        spellCheck={false}
        hint={setUp.either}
        error={fieldProblem?.messageFor('username')}
        onChange={(event) => onChange({ username: event.currentTarget.value })}
      />
      <Button type="submit" kind="main">
        {setUp.next}
      </Button>
    </form>
  );
}

interface PasswordProps {
  readonly value: string;
  readonly minLength: number;
  /** For password managers. */
  readonly username: string;
  readonly fieldProblem: ProblemError | undefined;
  readonly otherError: unknown;
  readonly busy: boolean;
  readonly onChange: (value: string) => void;
  readonly onNext: () => void;
}

function PasswordStep({ value, minLength, username, fieldProblem, otherError, busy, onChange, onNext }: PasswordProps) {
  const { setUp, signIn } = useText();
  const [isShown, setShown] = useState(false);
  const missing = minLength - [...value].length;
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        if (missing <= 0 && !busy) onNext();
      }}
    >
      <input type="hidden" name="username" autoComplete="username" value={username} />
      <Field
        label={setUp.password}
        type={isShown ? 'text' : 'password'}
        value={value}
        autoComplete="new-password"
        autoFocus
        hint={setUp.passwordHint(minLength)}
        error={fieldProblem?.messageFor('password')}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Switch label={signIn.show} checked={isShown} onChange={(event) => setShown(event.currentTarget.checked)} />
      {otherError !== undefined && <Problem error={otherError} />}
      <Button
        type="submit"
        kind="main"
        busy={busy}
        reason={value !== '' && missing > 0 ? setUp.passwordShort(missing) : undefined}
        disabled={missing > 0}
      >
        {setUp.next}
      </Button>
    </form>
  );
}
