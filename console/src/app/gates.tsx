import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { confirmation, request, session } from '../api/client.js';
import { usedCodeMessage } from '../api/login.js';
import { hasPasskeys, signChallenge } from '../api/passkeys.js';
import { ProblemError } from '../api/problem.js';
import type {
  Proof,
  PutSessionProofData,
  PutSessionProofResponse,
  StartProofData,
  StartProofResponse,
} from '../api/schema.js';
import { Button } from '../components/button/button.js';
import { Dialog } from '../components/dialog/dialog.js';
import { CodeField } from '../components/field/field.js';
import { Notice, Problem } from '../components/state/state.js';
import { nameOf } from '../components/text/values.js';
import { useStore } from '../lib/store.js';
import { SignInForm } from '../pages/sign-in/form.js';
import { useText } from '../text/text.js';
import { operatorQuery } from './operator.js';

/** Shown instead of the page if the login ends during the work. Requests wait for the new session, and drafts are kept. */
export function EndedGate({ reason }: { reason: ProblemError }) {
  const text = useText();
  const { data: operator } = useQuery({ ...operatorQuery, enabled: false });
  const identity = operator?.email ?? operator?.username ?? operator?.phone ?? undefined;
  return (
    <Dialog
      title={text.shell.ended.title}
      closing="button"
      onClose={() => undefined}
      footer={
        <Button kind="ghost" onClick={() => session.forget()}>
          {text.shell.ended.other}
        </Button>
      }
    >
      <Notice kind="info">
        {reason.status !== 401 && <>{reason.message} </>}
        {text.shell.ended.why}
      </Notice>
      <SignInForm {...(identity !== undefined && { identity })} />
    </Dialog>
  );
}

/** Asks the operator to re-authenticate before a sensitive change. Then the request continues. */
export function ConfirmationGate() {
  const pending = useStore(confirmation);
  if (pending === undefined) return null;
  return <ConfirmIdentity onConfirmed={pending.onConfirmed} onClose={pending.onRefused} />;
}

function ConfirmIdentity({ onConfirmed, onClose }: { onConfirmed: () => void; onClose: () => void }) {
  const text = useText();
  const { data: operator } = useQuery(operatorQuery);
  const factors = operator?.second_factors ?? [];
  const [code, setCode] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const isWrong = error instanceof ProblemError && error.code === 'proof_rejected';

  async function prove(createProof: () => Promise<Proof>): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      const proof = await createProof();
      const body = { proof };
      const url = '/v1/account/session-proof';
      const { token } = await request<PutSessionProofData, PutSessionProofResponse>('PUT', url, { body });
      session.replaceToken(token);
      onConfirmed();
    } catch (failure) {
      setError(failure);
      setCode('');
    } finally {
      setBusy(false);
    }
  }
  const proveWithCode = (secret: string) => prove(async () => ({ type: 'totp', secret }));
  const proveWithPasskey = () =>
    prove(async () => {
      const body = { type: 'passkey' } as const;
      const { id, challenge } = await request<StartProofData, StartProofResponse>('POST', '/v1/account/proofs', {
        body,
      });
      return { type: 'passkey', id, secret: await signChallenge(challenge) };
    });
  const hasPasskey = factors.some(isPasskey) && hasPasskeys();
  const hasApp = factors.some((factor) => !isPasskey(factor));
  return (
    <Dialog
      title={text.shell.confirm.title}
      onClose={onClose}
      onSubmit={() => void proveWithCode(code)}
      footer={
        <>
          {hasPasskey && (
            <Button icon="passkey" busy={busy && !hasApp} onClick={() => void proveWithPasskey()}>
              {text.shell.confirm.passkey}
            </Button>
          )}
          <Button data-cancel onClick={onClose}>
            {text.common.cancel}
          </Button>
          {hasApp && (
            <Button type="submit" kind="main" busy={busy} disabled={code.length < 6}>
              {text.shell.confirm.confirm}
            </Button>
          )}
        </>
      }
    >
      <p>
        {text.shell.confirm.why} {operator !== undefined && <bdi>({nameOf(operator)})</bdi>}
      </p>
      {hasApp && (
        <CodeField
          label={text.shell.confirm.code}
          value={code}
          onChange={setCode}
          onComplete={(complete) => void proveWithCode(complete)}
          error={isWrong ? (usedCodeMessage(error) ?? text.signIn.codeWrong) : undefined}
          disabled={busy}
        />
      )}
      {error !== undefined &&
        !isWrong &&
        (error instanceof DOMException ? (
          <Notice kind="bad" live>
            {text.signIn.passkeyFailed}
          </Notice>
        ) : (
          <Problem error={error} />
        ))}
    </Dialog>
  );
}

const isPasskey = (factor: { readonly type: string }) => factor.type === 'passkey';
