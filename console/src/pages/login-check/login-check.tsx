import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type { DiagnoseLoginData, LoginDiagnosis } from '../../api/schema.js';
import { userQuery } from '../../api/users.js';
import { Button, ButtonLink } from '../../components/button/button.js';
import { Diagnosis } from '../../components/diagnosis/diagnosis.js';
import { Field, Select } from '../../components/field/field.js';
import { Icon } from '../../components/icon/icon.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Loaded, Notice } from '../../components/state/state.js';
import { nameOf } from '../../components/text/values.js';
import { useFormats, useText } from '../../text/text.js';
import { useRemedies } from '../user/remedies.js';
import { CreateUser, type NewMembers } from '../users/create-user.js';
import styles from './login-check.module.css';
import { type IdentityType, readType, typeOf } from './query.js';

/** Shows the answer that a login with an identity would get, also if no user has the identity. */
export function LoginCheck() {
  const { check: text, users } = useText();
  const search = useSearch({ from: '/users/login-check' });
  const navigate = useNavigate({ from: '/users/login-check' });
  const { value = '', device, address } = search;
  const type = readType(search.type) ?? typeOf(value);
  const query = useQuery({
    queryKey: ['login-check', type, value, device, address],
    queryFn: ({ signal }) => {
      const body = { identity: { type, value }, ...(device && { device_id: device }), ...(address && { address }) };
      return request<DiagnoseLoginData, LoginDiagnosis>('POST', '/admin/v1/login-diagnosis', { body, signal });
    },
    enabled: value !== '',
  });
  const problem = query.error instanceof ProblemError ? query.error : undefined;
  const fieldErrors = {
    value: problem?.messageFor('identity.value'),
    device: problem?.messageFor('device_id'),
    address: problem?.messageFor('address'),
  };
  const isAtField = Object.values(fieldErrors).some((message) => message !== undefined);
  return (
    <Page
      title={text.title}
      breadcrumbs={
        <>
          <Link to="/users">{users.title}</Link>
          <Icon name="chevronRight" size={12} />
        </>
      }
    >
      <div className={styles.column}>
        <Question
          key={JSON.stringify(search)}
          start={{ type, value, device: device ?? '', address: address ?? '' }}
          errors={fieldErrors}
          busy={query.isFetching}
          onAsk={(asked) => {
            void navigate({ search: { ...asked }, resetScroll: false });
            void query.refetch();
          }}
        />
        {value !== '' && !isAtField && (
          <Loaded query={query} what={text.notRead} rows={6}>
            {(diagnosis) => <Answer value={value} diagnosis={diagnosis} />}
          </Loaded>
        )}
      </div>
    </Page>
  );
}

interface LoginQuestion {
  readonly type: IdentityType;
  readonly value: string;
  readonly device: string;
  readonly address: string;
}

interface QuestionProps {
  readonly start: LoginQuestion;
  readonly errors: { readonly [Name in 'value' | 'device' | 'address']: string | undefined };
  readonly busy: boolean;
  readonly onAsk: (asked: LoginQuestion) => void;
}

function Question({ start, errors, busy, onAsk }: QuestionProps) {
  const { check: text, user } = useText();
  const [form, setForm] = useState(start);
  const [isChosen, setChosen] = useState(start.type !== typeOf(start.value));
  const plain = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false };
  const value = form.value.trim();
  return (
    <Panel>
      <form
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (value !== '') onAsk({ ...form, value, device: form.device.trim(), address: form.address.trim() });
        }}
      >
        <Field
          {...plain}
          label={text.identity}
          hint={text.identityHint}
          error={errors.value}
          autoFocus
          maxLength={320}
          value={form.value}
          onChange={(event) => {
            const next = event.currentTarget.value;
            setForm({ ...form, value: next, ...(!isChosen && { type: typeOf(next) }) });
          }}
        />
        <Select
          label={text.type}
          value={form.type}
          options={[
            ['email', user.who.email],
            ['phone', user.who.phone],
            ['username', user.who.username],
            ['external_id', user.who.externalId],
          ]}
          onChoose={(type) => {
            setChosen(true);
            setForm({ ...form, type });
          }}
        />
        <Field
          {...plain}
          label={text.device}
          hint={text.deviceHint}
          error={errors.device}
          value={form.device}
          onChange={(event) => setForm({ ...form, device: event.currentTarget.value })}
        />
        <Field
          {...plain}
          label={text.address}
          hint={text.addressHint}
          error={errors.address}
          value={form.address}
          onChange={(event) => setForm({ ...form, address: event.currentTarget.value })}
        />
        <div className={styles.ask}>
          <Button type="submit" kind={start.value === '' ? 'main' : 'plain'} busy={busy} disabled={value === ''}>
            {text.ask}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Answer({ value, diagnosis }: { value: string; diagnosis: LoginDiagnosis }) {
  const { check: text, user } = useText();
  const { time } = useFormats();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [members, setMembers] = useState<NewMembers>();
  const { user_id: id, checked_at } = diagnosis;
  const checkAgain = () => client.invalidateQueries({ queryKey: ['login-check'] });
  const onRemedy = useRemedies({
    onOpenDialog: (dialog, about) =>
      void (
        id !== null && navigate({ to: '/users/$id', params: { id }, search: { act: dialog, ...(about && { about }) } })
      ),
    onCreate: setMembers,
    onDone: checkAgain,
  });
  return (
    <Panel title={user.login.title} note={user.login.checked(time(checked_at))} hasNoPadding>
      <div className={styles.who}>
        {id === null ? <Notice kind="info">{text.nobody(value)}</Notice> : <Owner id={id} />}
      </div>
      <Diagnosis diagnosis={id === null ? { ...diagnosis, ways: [] } : diagnosis} onRemedy={onRemedy} />
      {members !== undefined && (
        <CreateUser
          start={members}
          onClose={() => {
            setMembers(undefined);
            void checkAgain();
          }}
        />
      )}
    </Panel>
  );
}

/** The user who has the identity, with a link to the user's page. */
function Owner({ id }: { id: string }) {
  const { check: text } = useText();
  const { data } = useQuery(userQuery(id));
  const name = data === undefined ? id.slice(0, 8) : nameOf(data);
  return (
    <ButtonLink to="/users/$id" params={{ id }} search={{}} icon="user">
      <bdi>{text.open(name)}</bdi>
    </ButtonLink>
  );
}
