import type { AuditEvent } from '../../api/schema.js';
import { noUserId } from '../../api/users.js';
import { useText } from '../../text/text.js';
import { Icon, type IconName } from '../icon/icon.js';
import { Time } from '../text/values.js';
import styles from './event.module.css';

type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** Icons and tones by the beginning of an event's type. The first entry that matches is used. */
const eventLooks: readonly (readonly [prefix: string, icon: IconName, tone: Tone])[] = [
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
  ['webhook.', 'link', 'idle'],
  ['categories.changed', 'bell', 'idle'],
  ['topic.', 'bell', 'idle'],
  ['publication.', 'send', 'idle'],
  ['channel.paused', 'bell', 'bad'],
  ['channel.', 'bell', 'idle'],
  ['preferences.changed', 'bell', 'idle'],
  ['audience.created', 'key', 'idle'],
  ['audience.changed', 'key', 'idle'],
  ['audience.deleted', 'key', 'idle'],
  ['signing_keys.rotated', 'key', 'idle'],
  ['block.created', 'ban', 'idle'],
  ['suppression.created', 'ban', 'idle'],
  ['setup_link.', 'link', 'idle'],
  ['proof.rejected', 'circleCross', 'bad'],
  ['', 'info', 'idle'],
];

/** The icon and the tone of a type of event. */
export function eventLook(type: string): { readonly icon: IconName; readonly tone: Tone } {
  const [, icon, tone] = eventLooks.find(([prefix]) => type.startsWith(prefix)) ?? ['', 'info', 'idle'];
  return { icon, tone } as const;
}

/** What happened, after the name of the user. Types that this console does not know are shown as they are. */
export function useVerb(): (type: string) => string {
  const { events } = useText();
  return (type) => events.types[type] ?? type;
}

/** The actor, the verb and the object of an event. */
export interface Sentence {
  readonly actor: string;
  /** The kind of an actor that is no person. */
  readonly kind?: string;
  readonly verb: string;
  /** The user, or the name of the resource. Undefined: the actor is the user, or the resource has no name. */
  readonly object?: string | undefined;
}

const isByTheUser = ({ actor, user_id }: AuditEvent) => actor === 'user' || actor === `user:${user_id}`;

/** The name of the API key, the webhook or the address that an event about no user is about. */
function objectName({ user_id, data }: AuditEvent): string | undefined {
  if (user_id !== noUserId) return undefined;
  return [data.name, data.url, data.address].find((value): value is string => typeof value === 'string');
}

function useActor(): (event: AuditEvent) => string {
  const { events } = useText();
  return ({ actor, actor_name }) => {
    if (actor_name !== null) return actor_name;
    // The key of the environment has no other name.
    return actor === 'key:environment' ? 'ADMIN_API_KEY' : (events.actors[actor.split(':', 1)[0] ?? ''] ?? actor);
  };
}

/** An audit event as a sentence: the actor, what the actor did, and to whom. */
export function useSentence(): (event: AuditEvent) => Sentence {
  const { events } = useText();
  const verb = useVerb();
  const actor = useActor();
  return (event) => {
    const { type, user_id, user_name } = event;
    const user = user_id === noUserId ? undefined : (user_name ?? events.nobody);
    if (isByTheUser(event)) return { actor: user ?? actor(event), verb: verb(type), object: objectName(event) };
    return {
      actor: actor(event),
      ...(event.actor.startsWith('key:') && { kind: events.apiKey }),
      verb: (user === undefined ? events.aboutNobody[type] : events.doneToUser[type]) ?? verb(type),
      object: user ?? objectName(event),
    };
  };
}

const namedDetails = ['authenticator', 'second_factor', 'error_code', 'reason', 'kind', 'field'];

/** The details of an event: the authenticator, the cause, the thing, the actor and the address. */
export function useDetail(): (event: AuditEvent) => string {
  const { events, messages } = useText();
  const actor = useActor();
  const actorText = (event: AuditEvent) => {
    // Messages are sent by Postern, and events about no user begin with the actor.
    if (isByTheUser(event) || event.actor === 'system' || event.user_id === noUserId) return undefined;
    if (event.actor === 'cli') return events.byCli;
    return event.actor.startsWith('key:') && event.actor_name !== null
      ? events.byKey(event.actor_name)
      : events.by(actor(event));
  };
  return (event) => {
    const words = namedDetails
      .map((name) => event.data[name])
      .filter((value): value is string => typeof value === 'string')
      .map((word) => events.words[word] ?? messages.kinds[word] ?? word);
    return [...words, objectName(event), actorText(event), event.address].filter(Boolean).join(' · ');
  };
}

/** One event as a row of a list: the user and what happened, or who did what, if it is about no user. */
export function EventRow({ event }: { event: AuditEvent }) {
  const { events } = useText();
  const ofUser = useVerb()(event.type);
  const sentence = useSentence()(event);
  const detail = useDetail()(event);
  const isAboutNobody = event.user_id === noUserId;
  const name = isAboutNobody ? sentence.actor : (event.user_name ?? events.nobody);
  const verb = isAboutNobody ? sentence.verb : ofUser;
  const { icon, tone } = eventLook(event.type);
  return (
    <li className={styles.event}>
      <span className={styles[tone]}>
        <Icon name={icon} />
      </span>
      <div className={styles.description}>
        <div className={styles.line}>
          <bdi className={styles.name} title={name}>
            {name}
          </bdi>
          <span>{verb}</span>
        </div>
        {detail !== '' && (
          <div className={styles.detail} title={detail}>
            <bdi>{detail}</bdi>
          </div>
        )}
      </div>
      <Time value={event.created_at} />
    </li>
  );
}
