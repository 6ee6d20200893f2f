import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { LoginDiagnosis, UserDevice } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { deviceName } from '../../components/delivery/delivery.js';
import { Diagnosis, type RemedyAction, VerdictIcon } from '../../components/diagnosis/diagnosis.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { Segments, Select } from '../../components/field/field.js';
import { Panel } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { useFormats, useText } from '../../text/text.js';
import { devicesQuery, diagnosisQuery } from './queries.js';
import styles from './user.module.css';

/** The number of devices that have a tab. If there are more, a list of the others replaces the last tab. */
const maxTabs = 3;

interface LoginProps {
  readonly id: string;
  /** The device whose point of view is shown; undefined: a new device. */
  readonly device: string | undefined;
  readonly onChoose: (device: string | undefined) => void;
}

interface PanelProps extends LoginProps {
  readonly onRemedy: RemedyAction;
}

/** "Can they log in?", from the point of view of a new device and of each known device. */
export function Login({ id, device, onChoose, onRemedy }: PanelProps) {
  const { user } = useText();
  const { time } = useFormats();
  const query = useQuery(diagnosisQuery(id, device));
  const [showsJson, setShowsJson] = useState(false);
  const { data } = query;
  const factor = useFactorText(data?.second_factor);
  return (
    <Panel
      anchor="login"
      title={user.login.title}
      hasNoPadding
      note={data === undefined ? undefined : user.login.checked(time(data.checked_at))}
      actions={
        <Button kind="ghost" icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
          {user.login.again}
        </Button>
      }
      footer={
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
        {(diagnosis) => <Diagnosis diagnosis={diagnosis} onRemedy={onRemedy} />}
      </Loaded>
      {showsJson && data !== undefined && (
        <Dialog title={user.login.title} isWide onClose={() => setShowsJson(false)}>
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
  const shownCount = devices.length > maxTabs ? maxTabs - 1 : maxTabs;
  const tabDevices = devices.slice(0, shownCount);
  const others = devices.slice(shownCount);
  const answers = useQueries({
    queries: [undefined, ...tabDevices.map((each) => each.id)].map((each) => diagnosisQuery(id, each)),
  });
  const nameOrUnnamed = (each: UserDevice) => deviceName(each) ?? user.devices.unnamed;
  const tab = (name: string, answer: LoginDiagnosis | undefined) => (
    <span className={styles.tab}>
      {answer !== undefined && <VerdictIcon diagnosis={answer} />}
      <bdi>{name}</bdi>
      {answer !== undefined && <span className="hidden-text">{user.login.answers[answer.verdict]}</span>}
    </span>
  );
  return (
    <div className={styles.views}>
      <div className={styles.tabs}>
        <Segments
          label={user.login.view}
          value={device ?? ''}
          options={[
            ['', tab(user.login.newDevice, answers[0]?.data)],
            ...tabDevices.map((each, index) => [each.id, tab(nameOrUnnamed(each), answers[index + 1]?.data)] as const),
          ]}
          onChoose={(chosen) => onChoose(chosen === '' ? undefined : chosen)}
        />
      </div>
      {others.length > 0 && (
        <div className={styles.others}>
          <Select
            label={user.login.view}
            value={others.some((each) => each.id === device) ? (device ?? '') : ''}
            options={[['', `+ ${others.length}`], ...others.map((each) => [each.id, nameOrUnnamed(each)] as const)]}
            onChoose={(chosen) => onChoose(chosen === '' ? undefined : chosen)}
          />
        </div>
      )}
    </div>
  );
}
