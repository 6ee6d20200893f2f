import { useState } from 'react';
import { NetworkError } from '../../api/problem.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Checkbox, Field, Segments, Select, Switch, TextArea } from '../../components/field/field.js';
import { Menu } from '../../components/menu/menu.js';
import { Facts, Page, Panel } from '../../components/panel/panel.js';
import { Bar } from '../../components/plot/bar.js';
import { Plot } from '../../components/plot/plot.js';
import { Empty, Notice, Problem, Skeleton } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { Num, Secret, Time } from '../../components/text/values.js';
import { Timeline } from '../../components/timeline/timeline.js';
import { toast } from '../../components/toast/toasts.js';
import { useDraft } from '../../lib/drafts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { List } from './list.js';
import styles from './parts.module.css';

const nothing = () => undefined;

/** All components with their states, on one page: for people who change the console, and for its tests. */
export function Parts() {
  const { parts } = useText();
  return (
    <Page title={parts.title}>
      <p>{parts.about}</p>
      <div className={styles.grid}>
        <Buttons />
        <States />
        <Fields />
        <Values />
        <ToastButtons />
        <History />
      </div>
      <Plots />
      <WithoutData />
      <List />
    </Page>
  );
}

function Buttons() {
  const { parts } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel title={parts.buttons}>
      <div className={layout.row}>
        <Button kind="main">Publish</Button>
        <Button busy>Publishing</Button>
        <Button changesData>Lock…</Button>
        <Button kind="ghost">Show as JSON</Button>
        <Button small icon="copy">
          Small
        </Button>
        <Button disabled reason="2 digits to go">
          Not yet
        </Button>
        <Button kind="warn" onClick={() => setOpen(true)}>
          Delete…
        </Button>
        <Button kind="danger">Erase for good</Button>
        <Menu
          label="More"
          items={[
            { name: 'Export what is stored', icon: 'upload', run: nothing },
            { name: 'Erase…', icon: 'trash', destructive: true, run: nothing },
          ]}
        />
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Erase Grace Hopper?"
          action="Erase for good"
          isDestructive
          confirmText="grace"
          alternative={<>Only want to keep them out? Deactivate instead.</>}
          onConfirm={() => setOpen(false)}
          onClose={() => setOpen(false)}
        >
          <p>
            <strong>2 devices</strong> are logged out on their next request.
          </p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function States() {
  const { parts } = useText();
  return (
    <Panel title={parts.states}>
      <div className={layout.row}>
        <span>Active</span>
        <Badge kind="until">Locked until 15:48</Badge>
        <Badge kind="forGood">Locked for good</Badge>
        <Badge kind="off">Deactivated</Badge>
        <Badge kind="good">Delivered</Badge>
        <Badge kind="bad">Failed</Badge>
        <Badge kind="waiting">Waiting</Badge>
        <Badge kind="muted">Muted</Badge>
        <Badge kind="new">New</Badge>
        <Badge kind="label">operator</Badge>
      </div>
    </Panel>
  );
}

function Fields() {
  const { parts } = useText();
  const [on, setOn] = useState(true);
  const [span, setSpan] = useState<'1h' | '24h'>('24h');
  const [note, setNote] = useDraft('parts', '');
  return (
    <Panel title={parts.fields}>
      <div className={layout.stack16}>
        <Field label="Mail address" placeholder="name@example.com" type="email" />
        <Field label="Phone" defaultValue="+1 555 12" error="This is too short for a number in the United States." />
        <Select
          label="Role"
          value="user"
          options={[
            ['user', 'user'],
            ['support', 'support agent'],
          ]}
          onChoose={nothing}
        />
        <TextArea
          label="Note"
          hint="Kept as a draft until the tab is closed."
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <div className={layout.row}>
          <Checkbox label="Ticked" defaultChecked />
          <Checkbox label="Some" isPartial />
          <Checkbox label="Empty" />
          <Switch label="On" checked={on} onChange={() => setOn(!on)} />
          <Segments
            label="Span"
            value={span}
            options={[
              ['1h', '1 h'],
              ['24h', '24 h'],
            ]}
            onChoose={setSpan}
          />
        </div>
      </div>
    </Panel>
  );
}

function Values() {
  const { parts } = useText();
  const now = new Date().toISOString();
  return (
    <Panel title={parts.values}>
      <div className={layout.stack16}>
        <Facts
          facts={[
            ['Id', <Id key="id" value="a8502ad9-a2a6-4760-b743-453657117d2f" />],
            ['Short', <Id key="short" value="a8502ad9-a2a6-4760-b743-453657117d2f" short />],
            ['Today', <Time key="today" value={now} focusable />],
            ['Long ago', <Time key="then" value="2017-10-19T17:02:03.181879Z" focusable />],
            ['Never', <Time key="never" value={null} emptyText="never" />],
            ['Number', <Num key="number" value={9999} />],
            ['Axis', <Num key="axis" value={10_500} scale="axis" />],
            ['Figure', <Num key="figure" value={214_600_000} scale="figure" />],
            ['None', <Num key="none" value={null} />],
          ]}
        />
        <Secret label="New key, shown once" value="psk_7Qm0vR2eXy4TtB1uN9wKcLzJ5hGdSfA8pOiUyEr3WqZxCvBnMlKjHg6FdSa2" />
      </div>
    </Panel>
  );
}

function ToastButtons() {
  const { parts, common } = useText();
  const stop = { name: common.close, run: nothing };
  return (
    <Panel title={parts.toasts}>
      <div className={layout.row}>
        <Button onClick={() => toast.done('Grace Hopper is locked.', { name: common.undo, run: nothing })}>Done</Button>
        <Button onClick={() => toast.failed('Not locked: the database did not answer.')}>Failed</Button>
        <Button
          onClick={() => {
            const progress = toast.progress('Signing out 1,204 of 10,482', stop);
            progress.update(0.115);
            setTimeout(progress.end, 4000);
          }}
        >
          Progress
        </Button>
      </div>
    </Panel>
  );
}

function History() {
  const { parts } = useText();
  const at = '2026-11-19T09:12:03.000000Z';
  return (
    <Panel title={parts.timeline}>
      <Timeline
        entries={[
          {
            id: '1',
            time: at,
            icon: 'lock',
            tone: 'bad',
            title: 'Locked by guesses for 8 minutes',
            detail: '5th lock',
          },
          { id: '2', time: at, icon: 'circleCross', tone: 'bad', title: '25 refusals in 31 minutes, wrong secret' },
          { id: '3', time: at, icon: 'circleCheck', tone: 'good', title: 'Signed in', detail: 'iPhone 15 Pro' },
        ]}
      />
    </Panel>
  );
}

/** A day in quarters of an hour, with a peak, a gap, and an evening with trouble. */
function Plots() {
  const { parts } = useText();
  const step = 15 * 60_000;
  const start = Date.parse('2026-11-21T15:30:00Z');
  const quarters = Array.from({ length: 96 }, (_, index) => index);
  const curve = (index: number, size: number) => Math.round(300 + size * Math.exp(-(((index - 60) / 18) ** 2)));
  const signIns = quarters.map((index) => (index > 20 && index < 24 ? null : curve(index, 590)));
  return (
    <Panel title={parts.plot}>
      <Plot
        label="Sign-ins in 24 hours: 46,642, at most 887 in 15 minutes."
        times={quarters.map((index) => new Date(start + index * step).toISOString())}
        step={step}
        beforeName="day before"
        onChoose={(index) => toast.done(String(index))}
        series={[
          {
            key: 'in',
            name: 'Signed in',
            note: '46,642',
            look: 'line',
            tone: 'accent',
            values: signIns,
            before: quarters.map((index) => curve(index, 500)),
            limit: { value: 600, name: 'warn' },
          },
          {
            key: 'refused',
            name: 'Refused',
            note: '1,766',
            look: 'bars',
            tone: 'bad',
            values: quarters.map((index) => ((index * 7) % 11) + (index > 84 ? index - 60 : 0)),
          },
        ]}
      />
      <Bar
        label="6,120 sent, 312 failed"
        parts={[
          { tone: 'accent', value: 5800 },
          { tone: 'bad', value: 320 },
        ]}
      />
    </Panel>
  );
}

function WithoutData() {
  const { parts } = useText();
  return (
    <Panel title={parts.without}>
      <div className={styles.grid}>
        <Skeleton rows={4} />
        <Empty title="No webhook yet" action={<Button icon="plus">Add webhook</Button>}>
          Tell your own servers what happens here.
        </Empty>
        <Problem message="The list could not be read." error={new NetworkError()} onRetry={nothing} />
        <Notice kind="locked">Support agents can see this, but not change it. Ask an operator.</Notice>
        <Notice kind="info">Your session ended. Sign in again; this page and what you typed stay.</Notice>
        <Notice kind="warn">Keep a copy first?</Notice>
        <Notice kind="good">Nothing needs you now.</Notice>
      </div>
    </Panel>
  );
}
