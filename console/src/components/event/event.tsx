import type { AuditEvent } from '../../api/schema.js';
import { useText } from '../../text/text.js';
import { Icon, type IconName } from '../icon/icon.js';
import { Time } from '../text/values.js';
import styles from './event.module.css';

type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** The first entry that begins the type of an event decides how it looks. */
const looks: readonly (readonly [begin: string, icon: IconName, tone: Tone])[] = [
  ['login.approved', 'circleCheck', 'good'],
  ['login.rejected', 'circleCross', 'bad'],
  ['login.refused_locked', 'lock', 'bad'],
  ['login.', 'message', 'idle'],
  ['account.locked_by_guesses', 'lock', 'bad'],
  ['message.sent', 'mail', 'idle'],
  ['message.', 'mail', 'warn'],
  ['user.locked', 'lock', 'bad'],
  ['user.unlocked', 'unlock', 'good'],
  ['user.deactivated', 'ban', 'idle'],
  ['user.deleted', 'trash', 'idle'],
  ['user.created', 'plus', 'idle'],
  ['user.', 'pencil', 'idle'],
  ['device.', 'phone', 'idle'],
  ['token.', 'logout', 'idle'],
  ['passkey.refused', 'passkey', 'bad'],
  ['passkey.', 'passkey', 'idle'],
  ['totp.', 'shield', 'idle'],
  ['key.', 'key', 'idle'],
  ['setup_link.', 'link', 'idle'],
  ['proof.rejected', 'circleCross', 'bad'],
  ['', 'info', 'idle'],
];

/** The icon and the tone of a type of event. */
export function lookOf(type: string): { readonly icon: IconName; readonly tone: Tone } {
  const [, icon, tone] = looks.find(([begin]) => type.startsWith(begin)) ?? ['', 'info', 'idle'];
  return { icon, tone } as const;
}

/** What happened, after the name of the user. Types that this console does not know are shown as they are. */
export function useVerb(): (type: string) => string {
  const { events } = useText();
  return (type) => events.types[type] ?? type;
}

/** The details of an event: the authenticator, the cause, the address and the actor. */
export function useDetail(): (event: AuditEvent) => string {
  const { events, messages } = useText();
  return ({ data, address, actor }) => {
    const named = ['authenticator', 'second_factor', 'error_code', 'reason', 'kind', 'field', 'name'].map(
      (name) => data[name],
    );
    const words = named.filter((value): value is string => typeof value === 'string' && value !== '');
    const by = actor === 'user' ? undefined : (events.actors[actor.split(':', 1)[0] ?? ''] ?? actor);
    return [...words.map((word) => events.words[word] ?? messages.kinds[word] ?? word), address, by]
      .filter(Boolean)
      .join(' · ');
  };
}

/** One event as a row of a list. `name`: the user whom it is about. */
export function EventRow({ event, name }: { event: AuditEvent; name: string }) {
  const verb = useVerb();
  const detail = useDetail()(event);
  const { icon, tone } = lookOf(event.type);
  return (
    <li className={styles.event}>
      <span className={styles[tone]}>
        <Icon name={icon} />
      </span>
      <div className={styles.what}>
        <div className={styles.line}>
          <bdi className={styles.name} title={name}>
            {name}
          </bdi>
          <span>{verb(event.type)}</span>
        </div>
        {detail !== '' && <div className={styles.detail}>{detail}</div>}
      </div>
      <Time at={event.created_at} />
    </li>
  );
}
