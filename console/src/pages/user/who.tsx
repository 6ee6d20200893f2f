import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { User } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Icon, type IconName } from '../../components/icon/icon.js';
import { Facts, Panel, Rows } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { None, Time, UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import type { DialogName, OpenDialog } from './dialogs/dialog-action.js';
import { accountsQuery, useProviders } from './queries.js';
import styles from './user.module.css';

interface WhoProps {
  readonly user: User;
  /** Whether the operator may change this user. */
  readonly mayChange: boolean;
  readonly onOpenDialog: OpenDialog;
}

/** The profile of the user. */
export function Who({ user, mayChange, onOpenDialog }: WhoProps) {
  const { user: text, userDialogs, users } = useText();
  const { who } = text;
  const textOrNone = (value: string | null) => (value === null ? <None /> : <UserText text={value} />);
  const addressOrNone = (value: string | null, isProven: boolean) =>
    value === null || isProven ? (
      textOrNone(value)
    ) : (
      <>
        <UserText text={value} /> ({who.notProven})
      </>
    );
  return (
    <Panel
      anchor="who"
      title={who.title}
      actions={
        mayChange && (
          <>
            <Button small changesData onClick={() => onOpenDialog('profile')}>
              {userDialogs.edit}
            </Button>
            <Button small changesData onClick={() => onOpenDialog('addresses')}>
              {userDialogs.editAddresses}
            </Button>
          </>
        )
      }
    >
      <Facts
        facts={[
          [userDialogs.profile.name, textOrNone(user.name === '' ? null : user.name)],
          [who.username, textOrNone(user.username)],
          [who.phone, addressOrNone(user.phone, user.phone_verified)],
          [who.email, addressOrNone(user.email, user.email_verified)],
          [who.externalId, textOrNone(user.external_id)],
          [who.role, users.roles[user.role]],
          [who.roles, textOrNone(user.roles.length === 0 ? null : user.roles.join(', '))],
          [who.locale, textOrNone(user.locale)],
          [who.created, <Time key="created" value={user.created_at} focusable />],
          [who.changed, <Time key="changed" value={user.updated_at} focusable />],
          [who.claims, <Members key="claims" object={user.claims} />],
          [who.metadata, <Members key="metadata" object={user.metadata} />],
        ]}
      />
    </Panel>
  );
}

/** The members of a JSON object. Values other than text are JSON, as the API has them. */
function Members({ object }: { readonly object: Readonly<Record<string, unknown>> }) {
  const members = Object.entries(object);
  if (members.length === 0) return <None />;
  return (
    <ul className={styles.metadata}>
      {members.map(([name, value]) => (
        <li key={name}>
          <bdi className={layout.quiet}>{name}:</bdi>{' '}
          <bdi>{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** The password, the PIN and the second factors of the user. */
export function Factors({ user, mayChange, onOpenDialog }: WhoProps) {
  const { user: text, userDialogs } = useText();
  const { time } = useFormats();
  const { factors } = text;
  const policy = userDialogs.policy.values[user.second_factor ?? 'byDefault'];
  const open = (dialog: DialogName, verb: string, what: string) =>
    mayChange ? (
      <Button
        key={dialog}
        kind="ghost"
        small
        changesData
        label={userDialogs.of(verb, what)}
        onClick={() => onOpenDialog(dialog)}
      >
        {verb}
      </Button>
    ) : null;
  return (
    <Panel anchor="factors" title={factors.title} hasNoPadding>
      <Rows label={factors.title}>
        <FactorRow
          icon="key"
          name={factors.password}
          more={user.has_password ? factors.onFile : userDialogs.factor.notSet}
        >
          {open('password', user.has_password ? userDialogs.change : userDialogs.set, factors.password)}
          {user.has_password && open('noPassword', userDialogs.remove, factors.password)}
        </FactorRow>
        <FactorRow icon="keyboard" name={factors.pin} more={user.has_pin ? factors.onFile : userDialogs.factor.notSet}>
          {user.has_pin && open('noPin', userDialogs.remove, factors.pin)}
        </FactorRow>
        {user.pin_recovery !== null && (
          <FactorRow
            icon="clock"
            name={factors.pin}
            more={userDialogs.factor.pinChanges(time(user.pin_recovery.effective_at))}
          >
            {open('pinRecovery', userDialogs.cancel, factors.pin)}
          </FactorRow>
        )}
        {user.second_factors.map(({ type, created_at }) => (
          <FactorRow
            key={`${type} ${created_at}`}
            icon={type === 'totp' ? 'shield' : 'passkey'}
            name={factors[type]}
            more={factors.since(time(created_at))}
          />
        ))}
        <FactorRow icon="shield" name={userDialogs.factor.second} more={`${userDialogs.policy.label}: ${policy}`}>
          {open('policy', userDialogs.change, userDialogs.factor.second)}
          {user.second_factors.length > 0 && open('factors', factors.remove, userDialogs.factor.second)}
        </FactorRow>
      </Rows>
    </Panel>
  );
}

interface FactorRowProps {
  readonly icon: IconName;
  readonly name: string;
  readonly more: string;
  readonly children?: ReactNode;
}

function FactorRow({ icon, name, more, children }: FactorRowProps) {
  return (
    <li className={styles.row}>
      <Icon name={icon} />
      <div>
        {name}
        <div className={layout.quiet}>{more}</div>
      </div>
      {children !== undefined && <div className={styles.verbs}>{children}</div>}
    </li>
  );
}

/** The accounts at OpenID providers with which the user can log in. Nothing without a provider. */
export function Accounts({ user, mayChange, onOpenDialog }: WhoProps) {
  const { accounts: text } = useText().userDialogs;
  const { time } = useFormats();
  const query = useQuery(accountsQuery(user.id));
  const providers = useProviders(user.id);
  if (providers.length === 0 && (query.data ?? []).length === 0) return null;
  return (
    <Panel
      title={text.title}
      hasNoPadding
      actions={
        mayChange &&
        providers.length > 0 && (
          <Button small changesData onClick={() => onOpenDialog('link')}>
            {text.link}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {(accounts) =>
          accounts.length === 0 ? (
            <p className={styles.empty}>{text.none}</p>
          ) : (
            <Rows label={text.title}>
              {accounts.map(({ id, provider, subject, email, created_at }) => (
                <li key={id} className={styles.row}>
                  <Icon name="link" />
                  <div className={styles.who}>
                    {provider}
                    {email !== null && <UserText quiet text={email} />}
                    <UserText quiet text={subject} />
                    <div className={layout.quiet}>{text.since(time(created_at))}</div>
                  </div>
                  {mayChange && (
                    <Button
                      kind="ghost"
                      small
                      changesData
                      label={`${text.unlink} ${provider} ${subject}`}
                      onClick={() => onOpenDialog('unlink', id)}
                    >
                      {text.unlink}
                    </Button>
                  )}
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}
