import type { User } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import type { Column } from '../../components/table/row.js';
import { None, nameOf, Time, UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import type { Texts } from '../../text/texts.js';
import styles from './users.module.css';

type UserTexts = Texts['users'];

export function columnsOf(users: UserTexts): readonly Column<User>[] {
  return [
    { key: 'name', head: users.name, size: 'wide', cell: (user) => <Identity user={user} /> },
    { key: 'phone', head: users.phone, isHiddenIfNarrow: true, cell: ({ phone }) => phone ?? <None /> },
    { key: 'state', head: users.state, cell: (user) => <State user={user} /> },
    {
      key: 'factors',
      head: users.factors,
      isHiddenIfNarrow: true,
      cell: ({ second_factors: factors }) =>
        factors.length === 0 ? (
          <None />
        ) : (
          <UserText quiet text={[...new Set(factors.map(({ type }) => users.kinds[type]))].join(', ')} />
        ),
    },
    {
      key: 'login',
      head: users.lastSignIn,
      cell: (user) => <Time value={user.last_login_at} emptyText={users.never} />,
    },
    { key: 'created', head: users.created, sort: 'created_at', cell: (user) => <Time value={user.created_at} /> },
  ];
}

/** Two lines: the name, and the identities of the user. */
function Identity({ user }: { user: User }) {
  const { users } = useText();
  const { name, username, email, phone, external_id } = user;
  const identities = [username, email, external_id].filter((value) => value !== null && value !== name);
  return (
    <div className={layout.identity}>
      {name === '' ? <span className={styles.noName}>{users.noName}</span> : <UserText strong text={name} />}
      <UserText quiet text={identities.length > 0 ? identities.join(' · ') : (phone ?? user.id)} />
    </div>
  );
}

/** The state of a user. Unusual states have a badge. */
function State({ user: { status, lock, guess_locks: guesses } }: { user: User }) {
  const { users } = useText();
  if (status === 'deactivated') return <Badge kind="off">{users.deactivated}</Badge>;
  if (lock?.permanent) return <Badge kind="forGood">{users.lockedForGood}</Badge>;
  if (lock) {
    return (
      <Badge kind="until">
        {users.lockedUntil} <Time value={lock.until} />
      </Badge>
    );
  }
  if (guesses.length > 0) return <Badge kind="until">{users.lockedByGuesses}</Badge>;
  return <span className={styles.normal}>{users.active}</span>;
}

/** On a phone: the state is a third line only if it is not normal. */
export function CompactUser({ user }: { user: User }) {
  const isNormal = user.status === 'active' && user.lock === null && user.guess_locks.length === 0;
  return (
    <div className={layout.identity}>
      <UserText strong text={nameOf(user)} />
      <UserText quiet text={[user.username, user.email, user.phone].find((value) => value !== null) ?? user.id} />
      {!isNormal && (
        <div>
          <State user={user} />
        </div>
      )}
    </div>
  );
}
