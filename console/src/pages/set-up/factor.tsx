import { useEffect, useState } from 'react';
import { createPasskey, hasPasskeys } from '../../api/passkeys.js';
import { ProblemError } from '../../api/problem.js';
import type { SetUpFactor } from '../../api/set-up.js';
import { Button } from '../../components/button/button.js';
import { CodeField, Segments } from '../../components/field/field.js';
import { QrCode } from '../../components/qr/qr-code.js';
import { Notice, Problem, Skeleton } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './set-up.module.css';

interface FactorProps {
  readonly factor: Pick<SetUpFactor, 'totp' | 'passkey'> | undefined;
  readonly busy: boolean;
  readonly failure: unknown;
  readonly onKind: (kind: 'totp' | 'passkey') => void;
  readonly onComplete: (proof: { code?: string; response?: Record<string, unknown> }) => void;
}

/** The step in which the user adds a second factor: an authenticator app or a passkey. */
export function FactorStep({ factor, busy, failure, onKind, onComplete }: FactorProps) {
  const { setUp } = useText();
  const [kind, setKind] = useState<'totp' | 'passkey'>('totp');
  const isSupported =
    factor !== undefined && (kind === 'totp' ? factor.totp !== undefined : factor.passkey !== undefined);
  return (
    <div className={styles.factor}>
      <Segments
        label={setUp.factor}
        value={kind}
        options={[
          ['totp', setUp.app],
          ['passkey', setUp.passkey],
        ]}
        onChoose={(next) => {
          setKind(next);
          onKind(next);
        }}
      />
      {isSupported && kind === 'totp' && factor.totp !== undefined && (
        <App totp={factor.totp} {...{ busy, failure }} onCode={(code) => onComplete({ code })} />
      )}
      {isSupported && kind === 'passkey' && factor.passkey !== undefined && (
        <Passkey
          options={factor.passkey.options}
          {...{ busy, failure }}
          onResponse={(response) => onComplete({ response })}
        />
      )}
      {!isSupported &&
        (failure === undefined ? <Skeleton rows={4} /> : <Problem error={failure} onRetry={() => onKind(kind)} />)}
    </div>
  );
}

const isWrong = (failure: unknown) =>
  failure instanceof ProblemError && ['proof_rejected', 'authorization_rejected'].includes(failure.code);

interface AppProps {
  readonly totp: { readonly secret: string; readonly uri: string };
  readonly busy: boolean;
  readonly failure: unknown;
  readonly onCode: (code: string) => void;
}

function App({ totp, busy, failure, onCode }: AppProps) {
  const { setUp } = useText();
  const [code, setCode] = useState('');
  useEffect(() => {
    if (failure !== undefined) setCode('');
  }, [failure]);
  const missing = 6 - code.length;
  return (
    <div className={styles.app}>
      <QrCode text={totp.uri} label={setUp.qr} />
      <form
        className={styles.fields}
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === 0 && !busy) onCode(code);
        }}
      >
        <div className={layout.stack4}>
          <span className={layout.label}>{setUp.scan}</span>
          <div className={styles.well}>
            <code>{totp.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
            <Id value={totp.secret} name={setUp.copyKey} hidesValue />
          </div>
        </div>
        <CodeField
          label={setUp.digits}
          hint={setUp.digitsHint}
          error={isWrong(failure) ? setUp.codeWrong : undefined}
          value={code}
          onChange={setCode}
          onComplete={onCode}
          disabled={busy}
          hasInitialFocus
        />
        {failure !== undefined && !isWrong(failure) && <Problem error={failure} />}
        <Button
          type="submit"
          kind="main"
          busy={busy}
          disabled={missing > 0}
          reason={missing > 0 ? setUp.toGo(missing) : undefined}
        >
          {setUp.finish}
        </Button>
      </form>
    </div>
  );
}

interface PasskeyProps {
  readonly options: unknown;
  readonly busy: boolean;
  readonly failure: unknown;
  readonly onResponse: (response: Record<string, unknown>) => void;
}

function Passkey({ options, busy, failure, onResponse }: PasskeyProps) {
  const { setUp } = useText();
  const [hasFailed, setFailed] = useState(false);
  if (!hasPasskeys()) return <Notice kind="warn">{setUp.passkeyUnsupported}</Notice>;
  const onCreate = async () => {
    setFailed(false);
    try {
      onResponse(await createPasskey(options));
    } catch {
      setFailed(true);
    }
  };
  return (
    <div className={styles.fields}>
      <p>{setUp.passkeyWhy}</p>
      {(hasFailed || isWrong(failure)) && (
        <Notice kind="bad" live>
          {setUp.passkeyFailed}
        </Notice>
      )}
      {failure !== undefined && !isWrong(failure) && <Problem error={failure} />}
      <Button kind="main" icon="passkey" busy={busy} onClick={() => void onCreate()}>
        {setUp.makePasskey}
      </Button>
    </div>
  );
}
