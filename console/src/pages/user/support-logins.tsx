import { useQuery } from '@tanstack/react-query';
import type { SupportLogin, User } from '../../api/schema.js';
import { operatorQuery, useHasScope } from '../../app/operator.js';
import { Badge, type BadgeKind } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Icon } from '../../components/icon/icon.js';
import { Panel, Rows } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { Time, UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import type { OpenDialog } from './dialogs/dialog-action.js';
import { supportLoginsQuery } from './queries.js';
import styles from './user.module.css';

const badges: Readonly<Record<SupportLogin['status'], BadgeKind>> = {
  pending: 'waiting',
  allowed: 'good',
  active: 'until',
  refused: 'bad',
  ended: 'off',
  expired: 'off',
};

/** The logins of operators as this user: those that are open, and those of the last days. */
export function SupportLogins({ user, onOpenDialog }: { user: User; onOpenDialog: OpenDialog }) {
  const { supportLogins: text } = useText().user;
  const query = useQuery(supportLoginsQuery(user.id));
  const { data: operator } = useQuery(operatorQuery);
  const mayLogIn = useHasScope()('admin') && user.role === 'user';
  const total = query.data?.page.total ?? 0;
  return (
    <Panel
      anchor="support-logins"
      title={text.title}
      note={total > 0 && total}
      hasNoPadding
      actions={
        mayLogIn && (
          <Button small changesData onClick={() => onOpenDialog('supportLogin')}>
            {text.open}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className={styles.empty}>{text.none}</p>
          ) : (
            <Rows label={text.title}>
              {data.map((login) => (
                <Row
                  key={login.id}
                  login={login}
                  isOwn={login.operator_id === operator?.id}
                  onOpenDialog={mayLogIn ? onOpenDialog : undefined}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}

interface RowProps {
  readonly login: SupportLogin;
  readonly isOwn: boolean;
  readonly onOpenDialog: OpenDialog | undefined;
}

function Row({ login, isOwn, onOpenDialog }: RowProps) {
  const { supportLogins: text } = useText().user;
  const { time } = useFormats();
  const { status, reason, write, operator_name: name, expires_at: end } = login;
  const isOpen = status === 'pending' || status === 'allowed' || status === 'active';
  return (
    <li className={styles.row}>
      <Icon name="shield" />
      <div className={styles.who}>
        <UserText strong text={name ?? text.deletedOperator} />
        <div className={layout.quiet}>
          <UserText text={reason} />
        </div>
        <div className={layout.quiet}>
          {write ? text.writes : text.reads} · {isOpen ? text.until(time(end)) : <Time value={login.created_at} />}
        </div>
      </div>
      <span className={styles.end}>
        <Badge kind={badges[status]}>{text.states[status]}</Badge>
        {onOpenDialog !== undefined && isOpen && (
          <span>
            {status === 'allowed' && isOwn && (
              <Button kind="ghost" small onClick={() => onOpenDialog('takeSupportLogin', login.id)}>
                {text.take}
              </Button>
            )}
            <Button kind="ghost" small onClick={() => onOpenDialog('endSupportLogin', login.id)}>
              {status === 'pending' ? text.withdraw : text.end}
            </Button>
          </span>
        )}
      </span>
    </li>
  );
}
