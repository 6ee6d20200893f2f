import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { session } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import { describeLink, type SetUpLink, type SetUpResult } from '../../api/set-up.js';
import { Entrance } from '../../app/entrance.js';
import { Button } from '../../components/button/button.js';
import { Problem, Skeleton } from '../../components/state/state.js';
import { useText } from '../../text/text.js';
import { Enrolment } from './enrolment.js';
import { RecoveryCodes } from './recovery-codes.js';
import styles from './set-up.module.css';
import { Steps } from './steps.js';

/** The page behind a set-up link: three steps that make an operator. */
export function SetUpPage({ onDone }: { onDone: () => void }) {
  const { setUp } = useText();
  const [secret] = useState(() => window.location.hash.slice(1));
  const isEnrolment = secret.startsWith('psl_');
  const [result, setResult] = useState<SetUpResult>();
  const link = useQuery({
    queryKey: ['set-up-link', secret],
    queryFn: () => describeLink(secret),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: secret !== '' && !isEnrolment && result === undefined,
  });
  useEffect(() => {
    document.title = `${setUp.title} · Postern`;
  }, [setUp]);

  return (
    <Entrance note={setUp.footer}>
      <div className={styles.column}>
        {result !== undefined ? (
          <RecoveryCodes
            codes={result.recovery_codes}
            onDone={() => {
              session.startWithSession(result.session);
              onDone();
            }}
          />
        ) : isEnrolment ? (
          <Enrolment secret={secret} onDone={onDone} />
        ) : secret === '' ? (
          <Wrong title={setUp.wrongTitle.unknown} onSignIn={onDone}>
            <p>{setUp.missing}</p>
            <p>
              {setUp.getNew} <code>postern operators invite</code>
            </p>
          </Wrong>
        ) : link.error !== null ? (
          <LinkProblem error={link.error} onRetry={() => void link.refetch()} onSignIn={onDone} />
        ) : link.data === undefined ? (
          <Skeleton rows={3} tall />
        ) : (
          <Form link={link.data} secret={secret} onResult={setResult} onLapsed={() => void link.refetch()} />
        )}
      </div>
    </Entrance>
  );
}

interface FormProps {
  readonly link: SetUpLink;
  readonly secret: string;
  readonly onResult: (result: SetUpResult) => void;
  readonly onLapsed: () => void;
}

function Form({ link, secret, onResult, onLapsed }: FormProps) {
  const { setUp } = useText();
  return (
    <>
      <header className={styles.head}>
        <h1>{setUp.title}</h1>
        <p>
          {setUp.becomes[link.role](link.app_name)} {setUp.endsIn}{' '}
          <Remaining until={link.expires_at} onEnd={onLapsed} />.
        </p>
      </header>
      <Steps link={link} secret={secret} onResult={onResult} onLinkEnded={onLapsed} />
    </>
  );
}

/** The time that is left, by the second. Screen readers get it once, and again in the last minute. */
function Remaining({ until, onEnd }: { until: string; onEnd: () => void }) {
  const { setUp } = useText();
  const [left, setLeft] = useState(() => secondsUntil(until));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(until)), 1000);
    return () => clearInterval(timer);
  }, [until]);
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) onEnd();
  }, [isOver, onEnd]);
  return (
    <>
      <strong role="timer" className={styles.remaining}>
        {Math.floor(left / 60)}:{String(left % 60).padStart(2, '0')}
      </strong>
      <span className="hidden-text" role="status">
        {left > 0 && left < 60 ? setUp.oneLeft : ''}
      </span>
    </>
  );
}

const secondsUntil = (time: string) => Math.max(0, Math.round((Date.parse(time) - Date.now()) / 1000));

interface LinkProblemProps {
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly onSignIn: () => void;
}

/** Says whether the link is unknown, used or expired, and how to get a new one. */
function LinkProblem({ error, onRetry, onSignIn }: LinkProblemProps) {
  const { setUp } = useText();
  const kind = error instanceof ProblemError ? /^setup_link_(unknown|used|expired)$/.exec(error.code)?.[1] : undefined;
  if (!(error instanceof ProblemError) || kind === undefined) return <Problem error={error} onRetry={onRetry} />;
  const title = setUp.wrongTitle[kind as 'unknown' | 'used' | 'expired'];
  return (
    <Wrong title={title} onSignIn={onSignIn}>
      <p>
        <WithCode text={error.message} />
      </p>
    </Wrong>
  );
}

/** Text of the service, with commands in backticks. */
function WithCode({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: every second part is a command
    index % 2 === 0 ? part : <code key={index}>{part}</code>,
  );
}

function Wrong({ title, onSignIn, children }: { title: string; onSignIn: () => void; children: ReactNode }) {
  const { setUp } = useText();
  return (
    <section className={styles.card}>
      <div className={styles.recovery}>
        <h1>{title}</h1>
        {children}
        <Button onClick={onSignIn}>{setUp.toSignIn}</Button>
      </div>
    </section>
  );
}
