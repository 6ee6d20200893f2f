import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type { CreateTestIdentityData, IssuedTestIdentity } from '../../api/schema.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { SecretDialog } from '../../components/dialog/secret-dialog.js';
import { Field, Select } from '../../components/field/field.js';
import { Notice, Problem } from '../../components/state/state.js';
import { westernDigits } from '../../lib/digits.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';

const days = { d7: 7, d14: 14, d30: 30, d90: 90 } as const;
type Lifetime = keyof typeof days;
const lifetimes = Object.keys(days) as readonly Lifetime[];
const msPerDay = 86_400_000;
/** The clock of this browser may be ahead of the service, which refuses more than 90 days. */
const marginMs = 3_600_000;

/** The form for a test identity, and then its code, once. */
export function NewTestIdentity({ onClose }: { onClose: () => void }) {
  const { access } = useText();
  const text = access.tests;
  const [issued, setIssued] = useState<IssuedTestIdentity>();
  if (issued === undefined) return <TestIdentityForm onClose={onClose} onIssued={setIssued} />;
  return (
    <SecretDialog
      title={issued.identity.value}
      action={text.done}
      onClose={onClose}
      label={text.shownOnce}
      value={issued.code}
      note={<p className={layout.faint}>{text.keepIt}</p>}
    />
  );
}

interface FormProps {
  readonly onClose: () => void;
  readonly onIssued: (issued: IssuedTestIdentity) => void;
}

function TestIdentityForm({ onClose, onIssued }: FormProps) {
  const { access } = useText();
  const text = access.tests;
  const client = useQueryClient();
  const [address, setAddress] = useState('');
  const [code, setCode] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('d14');
  const create = useMutation({
    mutationFn: () => {
      const value = address.trim();
      const body = {
        identity: { type: value.includes('@') ? ('email' as const) : ('phone' as const), value },
        ...(code !== '' && { code }),
        expires_at: new Date(Date.now() + days[lifetime] * msPerDay - marginMs).toISOString(),
      };
      return request<CreateTestIdentityData, IssuedTestIdentity>('POST', '/admin/v1/test-identities', { body });
    },
    async onSuccess(issued) {
      onIssued(issued);
      await client.invalidateQueries({ queryKey: ['test-identities'] });
    },
  });
  const { error } = create;
  const problem = error instanceof ProblemError ? error : undefined;
  const addressError =
    problem?.messageFor('identity.value') ??
    problem?.messageFor('identity') ??
    (problem?.code === 'test_identity_exists' ? problem.message : undefined);
  const isReady = address.trim() !== '' && (code === '' || code.length === 6);
  return (
    <FormDialog
      title={text.createTitle}
      action={text.createAction}
      isReady={isReady}
      busy={create.isPending}
      onClose={onClose}
      onSubmit={() => create.mutate()}
    >
      <div className={layout.stack16}>
        <Field
          label={text.address}
          hint={text.addressHint}
          error={addressError}
          value={address}
          maxLength={320}
          verbatim
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
        <Field
          label={text.code}
          hint={text.codeHint}
          value={code}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => setCode(westernDigits(event.currentTarget.value).replace(/\D/g, '').slice(0, 6))}
        />
        <Select
          label={text.valid}
          value={lifetime}
          options={lifetimes.map((name) => [name, text.lifetimes[name]] as const)}
          onChoose={setLifetime}
        />
        <Notice kind="warn">{text.about}</Notice>
        {error !== null && addressError === undefined && <Problem message={text.notCreated} error={error} />}
      </div>
    </FormDialog>
  );
}
