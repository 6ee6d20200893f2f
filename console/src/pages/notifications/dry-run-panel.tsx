import { useState } from 'react';
import { useUsersById } from '../../api/users.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { Icon } from '../../components/icon/icon.js';
import { Panel } from '../../components/panel/panel.js';
import { Id } from '../../components/text/id.js';
import { Num, nameOf, UserText } from '../../components/text/values.js';
import { download } from '../../lib/download.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import type { Report } from './dry-run.js';
import styles from './notifications.module.css';
import { PersonDevices } from './person-devices.js';
import type { ReadIds } from './read-ids.js';

interface DryRunProps {
  readonly report: Report | undefined;
  /** The report is about the form as it is now. */
  readonly isCurrent: boolean;
  /** The number of people who were checked until now. Undefined: no dry run is running. */
  readonly progress: number | undefined;
  readonly all: number;
  /** Lines without an id. */
  readonly refused: ReadIds['refused'];
  readonly isFile: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

/** Who would get the notification, and on which devices. Nothing is sent. */
export function DryRunPanel(props: DryRunProps) {
  const { report, isCurrent, progress, all, onRun, onStop } = props;
  const { dryRun: text } = useText().notifications;
  const { time } = useFormats();
  return (
    <Panel
      title={text.title}
      hasNoPadding
      note={report !== undefined && isCurrent && <Checked>{text.checked(time(report.endedAt))}</Checked>}
      actions={
        progress === undefined ? (
          <Button kind={report === undefined ? 'plain' : 'ghost'} icon="refresh" onClick={onRun}>
            {report === undefined ? text.run : text.again}
          </Button>
        ) : (
          <Button kind="ghost" onClick={onStop}>
            {text.stop}
          </Button>
        )
      }
    >
      <div role="status">
        {progress !== undefined && (
          <div className={styles.row}>
            <Icon name="clock" />
            <div className={styles.bar}>
              {text.checking(progress, all)}
              <progress value={progress} max={Math.max(1, all)} aria-label={text.title} />
            </div>
          </div>
        )}
        {progress === undefined && report === undefined && <p className={styles.empty}>{text.what}</p>}
        {progress === undefined && report !== undefined && !isCurrent && (
          <div className={styles.row}>
            <Icon name="warning" className={styles.warn} />
            <span>{text.stale}</span>
          </div>
        )}
      </div>
      {report !== undefined && <Result {...props} report={report} />}
    </Panel>
  );
}

function Checked({ children }: { children: string }) {
  return (
    <span className={styles.checked}>
      <Icon name="circleCheck" /> {children}
    </span>
  );
}

function Result({ report, refused, isFile }: DryRunProps & { report: Report }) {
  const { dryRun: text } = useText().notifications;
  const [showsWho, setShowsWho] = useState(false);
  const { push, people, unknown } = report;
  const without = people.filter((person) => person.push.length === 0).length;
  const refusedCount = unknown.length + refused.length;
  const channels = [
    ['APNs', push.apns],
    ['FCM', push.fcm],
    ['Web Push', push.web_push],
  ] as const;
  return (
    <>
      <dl className={styles.figures}>
        <Figure name={text.reached} value={people.length} />
        <Figure name={text.pushed} value={push.apns + push.fcm + push.web_push} />
        <Figure name={text.muted} value={push.muted} />
        <Figure name={text.refused} value={refusedCount} isBad={refusedCount > 0} />
      </dl>
      <Steps steps={report.steps} />
      {unknown.length > 0 && (
        <Lines
          text={
            isFile
              ? text.unknown(...linesOf(unknown.map(({ line }) => line)), unknown.length)
              : text.unknownPeople(unknown.length)
          }
          onDownload={() => download('unknown-users.txt', unknown.map(({ id }) => `${id}\n`).join(''), 'text/plain')}
        />
      )}
      {refused.length > 0 && (
        <Lines
          text={text.malformed(...linesOf(refused.map(({ line }) => line)), refused.length)}
          onDownload={() => download('refused-lines.ndjson', ndjson(refused), 'application/x-ndjson')}
        />
      )}
      {people.length > 0 && (
        <div className={styles.row}>
          <Icon name="phone" />
          <span>
            {[
              ...channels.flatMap(([name, count]) => (count === 0 ? [] : `${name} ${count.toLocaleString()}`)),
              ...(without > 0 ? [text.without(without)] : []),
            ].join(' · ')}
            {push.muted > 0 && <span className={layout.quiet}> {text.mutedBy}</span>}
          </span>
          <Button kind="ghost" small onClick={() => setShowsWho(true)}>
            {text.seeWho}
          </Button>
        </div>
      )}
      {showsWho && <Who report={report} onClose={() => setShowsWho(false)} />}
    </>
  );
}

const ndjson = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** The first lines by number, and how many more there are. */
function linesOf(lines: readonly number[]): [first: string, more: number] {
  const first = [...new Set(lines)].slice(0, 3);
  return [first.join(', '), Math.max(0, lines.length - first.length)];
}

function Figure({ name, value, isBad = false }: { name: string; value: number; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={isBad ? styles.bad : undefined}>
        <Num value={value} scale="figure" />
      </dd>
    </div>
  );
}

function Lines({ text, onDownload }: { text: string; onDownload: () => void }) {
  const { dryRun } = useText().notifications;
  return (
    <div className={styles.row}>
      <Icon name="circleCross" className={styles.bad} />
      <span>{text}</span>
      <Button kind="ghost" small onClick={onDownload}>
        {dryRun.download}
      </Button>
    </div>
  );
}

/** The maximum number of people who are shown by name. */
const maxNamed = 100;

/** Each person with the devices that get a push. */
function Who({ report, onClose }: { report: Report; onClose: () => void }) {
  const { notifications } = useText();
  const { dryRun: text } = notifications;
  const { delivery } = useText();
  const shown = report.people.slice(0, maxNamed);
  const users = useUsersById(shown.map(({ id }) => id));
  const [only] = report.people.length === 1 ? shown : [];
  return (
    <Dialog
      title={text.who}
      isWide
      onClose={onClose}
      actions={
        <Button
          icon="download"
          onClick={() => download('dry-run.ndjson', ndjson(report.people.map(lineOf)), 'application/x-ndjson')}
        >
          {text.download}
        </Button>
      }
    >
      {report.people.length > maxNamed && <p>{text.first(maxNamed, report.people.length)}</p>}
      <ul className={styles.who}>
        {shown.map(({ id, push }) => {
          const user = users.get(id);
          return (
            <li key={id}>
              {user === undefined ? <Id value={id} short /> : <UserText strong text={nameOf(user)} />}
              {only === undefined ? (
                <span className={styles.channels}>
                  {push.length === 0 && <span className={layout.quiet}>{text.noPush}</span>}
                  {push.map(({ device_id, channel, muted }) => (
                    <Badge key={device_id} kind={muted ? 'muted' : 'label'}>
                      {delivery.channels[channel]}
                    </Badge>
                  ))}
                </span>
              ) : (
                <PersonDevices id={id} push={push} />
              )}
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}

const lineOf = ({ id, push }: Report['people'][number]) => ({ user_id: id, push });

/** What would become of the mails and SMS. The devices say it of the pushes. */
function Steps({ steps }: Pick<Report, 'steps'>) {
  const { notifications, delivery, categories } = useText();
  const { dryRun: text } = notifications;
  const channels = (['email', 'sms'] as const).filter((channel) => steps.some((step) => step.channel === channel));
  if (channels.length === 0) return null;
  return (
    <div className={styles.row}>
      <Icon name="mail" />
      <div>
        {channels.map((channel) => (
          <div key={channel}>
            {categories.channels[channel]}:{' '}
            {steps
              .filter((step) => step.channel === channel)
              .map(({ reason, count }) =>
                reason === null ? text.wouldSend(count) : text.wouldNot(count, delivery.steps.reasons[reason]),
              )
              .join(' · ')}
          </div>
        ))}
        <div className={layout.quiet}>{text.stepsHint}</div>
      </div>
    </div>
  );
}
