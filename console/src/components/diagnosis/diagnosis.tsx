import { useState } from 'react';
import type { LoginDiagnosis, LoginReason, LoginRemedy, LoginWay } from '../../api/schema.js';
import { cx } from '../../lib/cx.js';
import { useFormats, useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { Icon, type IconName } from '../icon/icon.js';
import { Time } from '../text/values.js';
import styles from './diagnosis.module.css';

const verdictLooks: Readonly<
  Record<LoginWay['verdict'], { readonly icon: IconName; readonly tone: string | undefined }>
> = {
  yes: { icon: 'circleCheck', tone: styles.good },
  maybe: { icon: 'warning', tone: styles.warn },
  blocked: { icon: 'clock', tone: styles.warn },
  no: { icon: 'circleCross', tone: styles.bad },
  not_set_up: { icon: 'circleMinus', tone: styles.idle },
};

/** What a button of a remedy does. Undefined: the remedy gets no button here. */
export type RemedyAction = (remedy: LoginRemedy) => (() => Promise<void> | void) | undefined;

interface DiagnosisProps {
  readonly diagnosis: LoginDiagnosis;
  readonly onRemedy: RemedyAction;
}

/** The icon of a verdict, before a name. */
export function VerdictIcon({ diagnosis: { verdict, until } }: { diagnosis: LoginDiagnosis }) {
  const { icon, tone } = verdictLooks[verdict];
  return (
    <span className={tone}>
      <Icon name={verdict === 'no' && until !== null ? 'clock' : icon} size={14} />
    </span>
  );
}

const isAboutPin = ({ code }: LoginReason) => code === 'pin_missing';

/** The answer to "Can they log in?": the verdict, then what blocks every way, then each way. */
export function Diagnosis({ diagnosis, onRemedy }: DiagnosisProps) {
  const blockers = diagnosis.reasons.filter(({ effect }) => effect === 'blocks');
  // The notes about the PIN are the same for each way, so they are shown once.
  const pinReasons = diagnosis.ways.flatMap((way) => way.reasons.filter(isAboutPin)).slice(0, 1);
  const notes = [...diagnosis.reasons.filter(({ effect }) => effect === 'note'), ...pinReasons];
  // The first thing that helps is the only main button of the page.
  const mainRemedy = blockers.flatMap(({ remedies }) => remedies)[0];
  const unlockHelps = mainRemedy?.action === 'unlock' || mainRemedy?.action === 'reset_budget';
  return (
    <>
      <Verdict diagnosis={diagnosis} />
      <ul className={styles.ways}>
        {blockers.map((reason) => (
          <ReasonRow key={reason.code} reason={reason} {...{ main: mainRemedy, onRemedy }} />
        ))}
        {diagnosis.ways.map((way) => (
          <WayRow
            key={way.authenticator}
            {...{ onRemedy, unlockHelps }}
            way={{ ...way, reasons: way.reasons.filter((reason) => !isAboutPin(reason)) }}
          />
        ))}
        {notes.map((reason) => (
          <ReasonRow key={reason.message} reason={reason} {...{ main: undefined, onRemedy }} />
        ))}
      </ul>
    </>
  );
}

function Verdict({ diagnosis: { user_id, verdict, until, checked_at, message } }: { diagnosis: LoginDiagnosis }) {
  const { login } = useText().user;
  const { time, duration } = useFormats();
  const { icon, tone } = verdictLooks[verdict];
  const hasEnd = verdict === 'no' && until !== null;
  const explanation =
    user_id === null ? message : { yes: login.yesMore, maybe: login.maybeMore, no: login.noMore }[verdict];
  return (
    <div className={styles.verdict}>
      <span className={tone}>
        <Icon name={icon} size={20} />
      </span>
      <div>
        <h3>{hasEnd ? login.noUntil(time(until)) : login.answers[verdict]}</h3>
        <p>{hasEnd ? login.noUntilMore(duration(Date.parse(until) - Date.parse(checked_at))) : explanation}</p>
      </div>
    </div>
  );
}

/** A reason that concerns every way. */
function ReasonRow({ reason, ...rest }: RemediesProps & { reason: LoginReason }) {
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
      <Remedies remedies={reason.remedies} {...rest} />
    </li>
  );
}

function useWayName(): (way: LoginWay) => string {
  const { login } = useText().user;
  return ({ authenticator, pin }) => {
    const name = login.ways[authenticator] ?? authenticator.replace(/^(?:oidc|oauth|custom):/, '');
    return pin === 'own' ? login.withPin(name) : name;
  };
}

interface WayRowProps {
  readonly way: LoginWay;
  readonly onRemedy: RemedyAction;
  /** Whether an unlock removes what blocks every way to log in. */
  readonly unlockHelps: boolean;
}

function WayRow({ way, onRemedy, unlockHelps }: WayRowProps) {
  const { login } = useText().user;
  const name = useWayName()(way);
  const { icon, tone } = verdictLooks[way.verdict];
  const [firstReason] = way.reasons;
  const isBlocked = way.verdict === 'blocked';
  return (
    <li className={styles.way}>
      <span className={tone}>
        <Icon name={icon} />
      </span>
      <div className={styles.wayName}>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span className={tone}>{isBlocked && unlockHelps ? login.afterUnlock : login.verdicts[way.verdict]}</span>
      </div>
      <div className={styles.why}>
        {way.reasons.length === 0 && (isBlocked ? login.readyOtherwise : login.ready)}
        {way.reasons.map((reason) => (
          <ReasonText key={reason.message} reason={reason} />
        ))}
      </div>
      {firstReason !== undefined && <Since reason={firstReason} />}
      <Remedies remedies={way.reasons.flatMap(({ remedies }) => remedies)} {...{ main: undefined, onRemedy }} />
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
            <Time value={since} />
          </dd>
        </div>
      )}
      {until !== null && (
        <div>
          <dt>{login.until}</dt>
          <dd>
            <Time value={until} />
          </dd>
        </div>
      )}
    </dl>
  );
}

interface RemediesProps {
  /** The first thing that helps. */
  readonly main: LoginRemedy | undefined;
  readonly onRemedy: RemedyAction;
}

/** What can remove a reason: buttons, the names of settings, and a note if only the user can do it. */
function Remedies({ remedies, main, onRemedy }: RemediesProps & { remedies: readonly LoginRemedy[] }) {
  const { login } = useText().user;
  const settings = remedies.flatMap(({ setting }) => setting ?? []);
  return (
    <div className={styles.remedies}>
      {remedies.map((remedy) => {
        const run = onRemedy(remedy);
        if (run === undefined) return null;
        return <RemedyButton key={remedy.action} remedy={remedy} isMain={remedy === main} run={run} />;
      })}
      {settings.map((setting) => (
        <code key={setting}>{login.setting(setting)}</code>
      ))}
      {remedies.some(({ by }) => by === 'user') && <span className={styles.onlyThey}>{login.onlyThey}</span>}
    </div>
  );
}

interface RemedyButtonProps {
  readonly remedy: LoginRemedy;
  readonly isMain: boolean;
  readonly run: () => Promise<void> | void;
}

function RemedyButton({ remedy: { action }, isMain, run }: RemedyButtonProps) {
  const { login } = useText().user;
  const [busy, setBusy] = useState(false);
  return (
    <Button
      kind={isMain ? 'main' : 'plain'}
      small={!isMain}
      {...(action === 'unlock' || action === 'reset_budget' ? { icon: 'unlock' as const } : {})}
      busy={busy}
      changesData
      onClick={async () => {
        setBusy(true);
        await run();
        setBusy(false);
      }}
    >
      {login.remedies[action] ?? action}
    </Button>
  );
}
