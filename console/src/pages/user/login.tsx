import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request, send } from '../../api/client.js';
import type {
  LoginDiagnosis,
  LoginReason,
  LoginRemedy,
  LoginWay,
  RetryMessageData,
  UserDevice,
} from '../../api/schema.js';
import { useCan } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { deviceName } from '../../components/delivery/delivery.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { Segments, Select } from '../../components/field/field.js';
import { Icon, type IconName } from '../../components/icon/icon.js';
import { Panel } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { Time } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { cx } from '../../lib/cx.js';
import { useFormats, useText } from '../../text/text.js';
import { devicesQuery, diagnosisQuery, refresh } from './queries.js';
import styles from './user.module.css';

const looks: Readonly<Record<LoginWay['verdict'], { readonly icon: IconName; readonly tone: string | undefined }>> = {
  yes: { icon: 'circleCheck', tone: styles.good },
  maybe: { icon: 'warning', tone: styles.warn },
  blocked: { icon: 'clock', tone: styles.warn },
  no: { icon: 'circleCross', tone: styles.bad },
  not_set_up: { icon: 'circleMinus', tone: styles.idle },
};

/** As many devices have a tab. The others are in a list. */
const tabs = 3;

interface LoginProps {
  readonly id: string;
  /** The device whose point of view is shown; undefined: a new device. */
  readonly device: string | undefined;
  readonly onChoose: (device: string | undefined) => void;
}

/** "Can they log in?", from the point of view of a new device and of each known device. */
export function Login({ id, device, onChoose }: LoginProps) {
  const { user } = useText();
  const { time } = useFormats();
  const query = useQuery(diagnosisQuery(id, device));
  const [showsJson, setShowsJson] = useState(false);
  const { data } = query;
  const factor = useFactorText(data?.second_factor);
  return (
    <Panel
      title={user.login.title}
      flush
      note={data === undefined ? undefined : user.login.checked(time(data.checked_at))}
      actions={
        <Button kind="ghost" icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
          {user.login.again}
        </Button>
      }
      foot={
        data !== undefined && (
          <div className={styles.foot}>
            <span>{factor}</span>
            <Button kind="ghost" small onClick={() => setShowsJson(true)}>
              {user.login.json}
            </Button>
          </div>
        )
      }
    >
      <Views id={id} device={device} onChoose={onChoose} />
      <Loaded query={query} what={user.notRead} rows={6}>
        {(diagnosis) => <Diagnosis id={id} diagnosis={diagnosis} />}
      </Loaded>
      {showsJson && data !== undefined && (
        <Dialog title={user.login.title} wide onClose={() => setShowsJson(false)}>
          <pre className={styles.json}>{JSON.stringify(data, null, 2)}</pre>
        </Dialog>
      )}
    </Panel>
  );
}

function useFactorText(second_factor: LoginDiagnosis['second_factor'] | undefined): string {
  const { user } = useText();
  const types = second_factor?.types ?? [];
  return user.login.factor(
    types.map((type) => user.login.factors[type] ?? type).join(', '),
    second_factor?.required === true,
  );
}

/** The points of view as tabs, each with its answer. */
function Views({ id, device, onChoose }: LoginProps) {
  const { user } = useText();
  const { data } = useQuery(devicesQuery(id));
  const devices = data?.data ?? [];
  const first = devices.slice(0, tabs);
  const others = devices.slice(tabs);
  const answers = useQueries({
    queries: [undefined, ...first.map((each) => each.id)].map((each) => diagnosisQuery(id, each)),
  });
  const named = (each: UserDevice) => deviceName(each) ?? user.devices.unnamed;
  const tab = (name: string, answer: LoginDiagnosis | undefined) => (
    <span className={styles.tab}>
      {answer !== undefined && (
        <span className={looks[answer.verdict].tone}>
          <Icon
            name={answer.verdict === 'no' && answer.until !== null ? 'clock' : looks[answer.verdict].icon}
            size={14}
          />
        </span>
      )}
      <bdi>{name}</bdi>
      {answer !== undefined && <span className="hidden-text">{user.login.answers[answer.verdict]}</span>}
    </span>
  );
  return (
    <div className={styles.views}>
      <Segments
        label={user.login.view}
        value={device ?? ''}
        options={[
          ['', tab(user.login.newDevice, answers[0]?.data)],
          ...first.map((each, index) => [each.id, tab(named(each), answers[index + 1]?.data)] as const),
        ]}
        onChoose={(chosen) => onChoose(chosen === '' ? undefined : chosen)}
      />
      {others.length > 0 && (
        <Select
          label={user.login.view}
          value={others.some((each) => each.id === device) ? (device ?? '') : ''}
          options={[['', `+ ${others.length}`], ...others.map((each) => [each.id, named(each)] as const)]}
          onChoose={(chosen) => onChoose(chosen === '' ? undefined : chosen)}
        />
      )}
    </div>
  );
}

const isAboutPin = ({ code }: LoginReason) => code === 'pin_missing';

function Diagnosis({ id, diagnosis }: { id: string; diagnosis: LoginDiagnosis }) {
  const blockers = diagnosis.reasons.filter(({ effect }) => effect === 'blocks');
  // The notes about the PIN are the same for each way, so they are shown once.
  const ofPin = diagnosis.ways.flatMap((way) => way.reasons.filter(isAboutPin)).slice(0, 1);
  const notes = [...diagnosis.reasons.filter(({ effect }) => effect === 'note'), ...ofPin];
  // The first thing that helps is the only main button of the page.
  const main = blockers.flatMap(({ remedies }) => remedies)[0];
  return (
    <>
      <Verdict diagnosis={diagnosis} />
      <ul className={styles.ways}>
        {blockers.map((reason) => (
          <ReasonRow key={reason.code} id={id} reason={reason} main={main} />
        ))}
        {diagnosis.ways.map((way) => (
          <WayRow
            key={way.authenticator}
            id={id}
            way={{ ...way, reasons: way.reasons.filter((reason) => !isAboutPin(reason)) }}
          />
        ))}
        {notes.map((reason) => (
          <ReasonRow key={reason.code} id={id} reason={reason} main={undefined} />
        ))}
      </ul>
    </>
  );
}

function Verdict({ diagnosis: { verdict, until, checked_at } }: { diagnosis: LoginDiagnosis }) {
  const { login } = useText().user;
  const { time, duration } = useFormats();
  const { icon, tone } = looks[verdict];
  const ends = verdict === 'no' && until !== null;
  const more = { yes: login.yesMore, maybe: login.maybeMore, no: login.noMore }[verdict];
  return (
    <div className={styles.verdict}>
      <span className={tone}>
        <Icon name={icon} size={20} />
      </span>
      <div>
        <h3>{ends ? login.noUntil(time(until)) : login.answers[verdict]}</h3>
        <p>{ends ? login.noUntilMore(duration(Date.parse(until) - Date.parse(checked_at))) : more}</p>
      </div>
    </div>
  );
}

/** A reason that concerns every way. */
function ReasonRow({ id, reason, main }: { id: string; reason: LoginReason; main: LoginRemedy | undefined }) {
  const { login } = useText().user;
  const blocks = reason.effect === 'blocks';
  return (
    <li className={cx(styles.way, blocks && styles.blocker)}>
      <span className={blocks ? styles.bad : styles.idle}>
        <Icon name={blocks ? 'lock' : 'info'} />
      </span>
      <div className={styles.wayName}>
        <strong>{blocks ? login.everyWay : login.note}</strong>
        {blocks && <span className={styles.bad}>{login.answers.no}</span>}
      </div>
      <ReasonText reason={reason} />
      <Since reason={reason} />
      <Remedies id={id} of={reason.remedies} main={main} />
    </li>
  );
}

function useWayName(): (way: LoginWay) => string {
  const { login } = useText().user;
  return ({ authenticator, pin }) => {
    const name = login.ways[authenticator] ?? authenticator.replace(/^(?:oidc|custom):/, '');
    return pin === 'own' ? login.withPin(name) : name;
  };
}

function WayRow({ id, way }: { id: string; way: LoginWay }) {
  const { login } = useText().user;
  const name = useWayName()(way);
  const { icon, tone } = looks[way.verdict];
  const [first] = way.reasons;
  return (
    <li className={styles.way}>
      <span className={tone}>
        <Icon name={icon} />
      </span>
      <div className={styles.wayName}>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span className={tone}>{login.verdicts[way.verdict]}</span>
      </div>
      <div className={styles.why}>
        {way.reasons.length === 0 && way.verdict !== 'blocked' && login.ready}
        {way.reasons.map((reason) => (
          <ReasonText key={reason.code} reason={reason} />
        ))}
      </div>
      {first !== undefined && <Since reason={first} />}
      <Remedies id={id} of={way.reasons.flatMap(({ remedies }) => remedies)} main={undefined} />
    </li>
  );
}

/** The sentence of the service, with local times. */
function ReasonText({ reason: { message } }: { reason: LoginReason }) {
  const { time } = useFormats();
  return <div className={styles.why}>{message.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, time)}</div>;
}

function Since({ reason: { since, until } }: { reason: LoginReason }) {
  const { login } = useText().user;
  if (since === null && until === null) return null;
  return (
    <dl className={styles.since}>
      {since !== null && (
        <div>
          <dt>{login.since}</dt>
          <dd>
            <Time at={since} />
          </dd>
        </div>
      )}
      {until !== null && (
        <div>
          <dt>{login.until}</dt>
          <dd>
            <Time at={until} />
          </dd>
        </div>
      )}
    </dl>
  );
}

/** The remedies that need nothing but a click, as buttons. The others are named. */
function Remedies({ id, of, main }: { id: string; of: readonly LoginRemedy[]; main: LoginRemedy | undefined }) {
  const { login } = useText().user;
  const can = useCan();
  const settings = of.flatMap(({ setting }) => setting ?? []);
  const able = of.filter(({ action, scope }) => login.remedies[action] !== undefined && scope !== null && can(scope));
  return (
    <div className={styles.remedies}>
      {able.map((remedy) => (
        <Apply key={remedy.action} id={id} remedy={remedy} isMain={remedy === main} />
      ))}
      {settings.map((setting) => (
        <code key={setting}>{login.setting(setting)}</code>
      ))}
    </div>
  );
}

function Apply({ id, remedy, isMain }: { id: string; remedy: LoginRemedy; isMain: boolean }) {
  const { user } = useText();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const name = user.login.remedies[remedy.action] ?? remedy.action;
  async function apply(): Promise<void> {
    setBusy(true);
    try {
      await run(remedy);
      toast.done(user.login.done);
    } catch (error) {
      toast.failed(user.failed(name), error);
    }
    await refresh(client, id);
    setBusy(false);
  }
  return (
    <Button
      kind={isMain ? 'main' : 'plain'}
      small={!isMain}
      {...(remedy.action === 'unlock' || remedy.action === 'reset_budget' ? { icon: 'unlock' as const } : {})}
      busy={busy}
      changes
      onClick={() => void apply()}
    >
      {name}
    </Button>
  );
}

/** Makes the request that the diagnosis names. */
async function run({ action, method, path, body }: LoginRemedy): Promise<void> {
  if (method === null || path === null) return;
  if (action === 'retry_message') {
    const [message = ''] = /[\w-]{36}/.exec(path) ?? [];
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    await request<RetryMessageData, unknown>('POST', '/admin/v1/outbox/{id}/retry', { path: { id: message }, headers });
    return;
  }
  await send(method as 'POST' | 'PATCH' | 'DELETE', path, body === null ? {} : { body });
}
