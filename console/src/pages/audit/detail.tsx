import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AuditEvent } from '../../api/schema.js';
import { noUserId } from '../../api/users.js';
import { Badge } from '../../components/badge/badge.js';
import { useSentence } from '../../components/event/event.js';
import { Facts, Panel } from '../../components/panel/panel.js';
import { Id } from '../../components/text/id.js';
import { None, Time } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './audit.module.css';

/** One event: who did what to whom, the values before and after, and further details. */
export function EventDetail({ event }: { event: AuditEvent }) {
  const { audit, common } = useText();
  const { actor, kind, verb, object } = useSentence()(event);
  const names = useNames();
  const [actorKind, actorId] = event.actor.split(':');
  const details = detailsOf(event).map(
    ([name, value]) => [names(name), <Value key={name} value={value} name={name} />] as const,
  );
  return (
    <Panel
      title={<bdi>{[actor, verb, object].filter(Boolean).join(' ')}</bdi>}
      footer={
        <div className={styles.links}>
          {event.actor !== 'user' && (
            <Link to="/audit" search={{ actor: event.actor }}>
              {audit.onlyBy(actor)}
            </Link>
          )}
          {event.user_id !== noUserId && (
            <Link to="/audit" search={{ user: event.user_id }}>
              {audit.onlyAbout(event.user_name ?? audit.thisUser)}
            </Link>
          )}
        </div>
      }
    >
      <div className={layout.stack16}>
        <Facts
          facts={[
            [audit.time, <Time key="at" value={event.created_at} focusable />],
            [
              audit.who,
              <span key="who">
                <Name name={actor} id={actorKind === 'user' ? (actorId ?? event.user_id) : noUserId} />{' '}
                {kind !== undefined && <Badge kind="label">{kind}</Badge>}
              </span>,
            ],
            ...(object === undefined
              ? []
              : [
                  [
                    audit.whom,
                    <Name key="whom" name={object} id={event.user_name === null ? noUserId : event.user_id} />,
                  ] as const,
                ]),
            [audit.address, event.address ?? <None key="address" />],
            ...details,
          ]}
        />
        {event.changes.length > 0 && <Changes changes={event.changes} />}
        <Facts
          facts={[
            [audit.type, <code key="type">{event.type}</code>],
            ...(event.user_id === noUserId
              ? []
              : [[audit.userId, <Id key="user" value={event.user_id} name={audit.userId} />] as const]),
            [
              audit.request,
              event.request_id === null ? (
                <None key="request" />
              ) : (
                <Id key="request" value={event.request_id} name={audit.request} />
              ),
            ],
            [common.id, <Id key="id" value={event.id} name={audit.event} />],
          ]}
        />
      </div>
    </Panel>
  );
}

/** The members that the sentence and the changes do not show. */
function detailsOf({ data, changes }: AuditEvent): readonly (readonly [string, unknown])[] {
  const shownElsewhere = new Set(changes.some(({ field }) => field === 'lock') ? ['until', 'reason', 'permanent'] : []);
  if (changes.length > 0) shownElsewhere.add('fields').add('changes');
  return Object.entries(data).filter(([name]) => !shownElsewhere.has(name));
}

/** A name, which leads to the page of the user. */
function Name({ name, id }: { name: string; id: string }) {
  const text = <bdi className={styles.value}>{name}</bdi>;
  if (id === noUserId) return text;
  return (
    <Link to="/users/$id" params={{ id }}>
      {text}
    </Link>
  );
}

/** Names of members in words. Members that this console does not know are shown as they are, without underscores. */
function useNames(): (name: string) => string {
  const { audit } = useText();
  return (name) => {
    const [first = '', ...rest] = name.split('.');
    return [audit.fields[first] ?? first.replaceAll('_', ' '), ...rest].join(' · ');
  };
}

/** The changed fields with their values before and after. */
function Changes({ changes }: { changes: AuditEvent['changes'] }) {
  const { audit } = useText();
  const names = useNames();
  return (
    <table className={styles.changes}>
      <caption className="hidden-text">{audit.changes}</caption>
      <thead>
        <tr>
          {[audit.field, audit.before, audit.after].map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after, withheld }) => (
          <tr key={field}>
            <th scope="row">
              <bdi>{names(field)}</bdi>
            </th>
            {withheld ? (
              <td colSpan={2} className={layout.faint}>
                {audit.withheld}
              </td>
            ) : (
              <>
                <td className={styles.before}>
                  <Value value={before} name={field} />
                </td>
                <td className={styles.after}>
                  <Value value={after} name={field} />
                </td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** A value of an event. It may hold text of users. */
function Value({ value, name }: { value: unknown; name: string }): ReactNode {
  const { audit, events, messages } = useText();
  const names = useNames();
  if (value === null || value === undefined || value === '') return <None />;
  if (typeof value === 'boolean') return value ? audit.yes : audit.no;
  if (Array.isArray(value)) {
    if (value.length === 0) return <None />;
    return (
      <ul className={styles.members}>
        {value.map((member, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <li key={index}>
            <Value value={member} name={name} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value === 'object') {
    return (
      <ul className={styles.members}>
        {Object.entries(value).map(([memberName, member]) => (
          <li key={memberName}>
            <bdi className={layout.faint}>{names(memberName)}:</bdi> <Value value={member} name={memberName} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value !== 'string') return String(value);
  if (uuid.test(value)) return <Id value={value} name={name} />;
  if (moment.test(value)) return <Time value={value} focusable />;
  const words = name === 'kind' ? messages.kinds : codeMembers.has(name) ? events.words : {};
  return <bdi className={styles.value}>{words[value] ?? value}</bdi>;
}

/** Members whose values are codes, which have words. */
const codeMembers = new Set([
  'authenticator',
  'second_factor',
  'error_code',
  'field',
  'fields',
  'recovers',
  'proof',
  'channel',
  'role',
  'status',
]);
