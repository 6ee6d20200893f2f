import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type {
  Category,
  CellChoice,
  SimulateCategoryData,
  Simulation,
  SimulationRequest,
  StepChannel,
} from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Field, Select } from '../../components/field/field.js';
import { Panel } from '../../components/panel/panel.js';
import { Loaded, Notice } from '../../components/state/state.js';
import { Timeline, type TimelineEntry } from '../../components/timeline/timeline.js';
import { useDebounced } from '../../lib/debounced.js';
import { useDraft } from '../../lib/drafts.js';
import { language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { dataOf, exampleOf, fieldsOf } from '../notifications/data-fields.js';
import { ownZone, wallTimeIn, zones } from '../publications/zoned-time.js';
import { QuietHoursFields } from '../user/quiet-hours.js';
import styles from './categories.module.css';
import { replaced, without } from './fields.js';
import { categoriesKey, channels } from './queries.js';
import {
  nextEvent,
  type Scenario,
  type ScenarioFault,
  scenarioFaults,
  simulationRequest,
  type TimelineLine,
  type TypedEvent,
  timelineOf,
  usualScenario,
} from './simulation.js';

const delayMs = 300;
/** More notifications than this are for the API. */
const maxEvents = 50;

interface SimulatorProps {
  readonly category: Category;
  /** The form has changes, which the simulator does not know. */
  readonly isUnsaved: boolean;
}

/** What the service would do with notifications at times that one can change. */
export function Simulator({ category, isUnsaved }: SimulatorProps) {
  const { categories } = useText();
  const text = categories.simulator;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Panel title={text.title} anchor="simulator">
      <div className={layout.stack16}>
        {isOpen && isUnsaved ? (
          <Notice kind="info">{text.unsaved}</Notice>
        ) : (
          <p className={layout.quiet}>{text.hint}</p>
        )}
        {isOpen && <OpenSimulator category={category} />}
        <div>
          <Button onClick={() => setIsOpen(!isOpen)}>{isOpen ? text.close : text.open}</Button>
        </div>
      </div>
    </Panel>
  );
}

function OpenSimulator({ category }: { category: Category }) {
  const { categories } = useText();
  const text = categories.simulator;
  const usual = useMemo(() => {
    const fields = fieldsOf(category.data_schema);
    const example = fields === undefined ? undefined : dataOf(fields, exampleOf(fields));
    const zone = ownZone();
    const day = wallTimeIn(zone, new Date()).slice(0, 10);
    return usualScenario(zone, day, example === undefined ? '' : JSON.stringify(example));
  }, [category]);
  const [scenario, setScenario, forget] = useDraft(`simulation.${category.name}`, usual);
  const set = (change: Partial<Scenario>) => setScenario({ ...scenario, ...change });
  const settled = JSON.parse(useDebounced(JSON.stringify(scenario), delayMs)) as Scenario;
  return (
    <div className={styles.simulator}>
      <div className={layout.stack16}>
        <Person {...{ category, scenario }} onChange={set} />
        <Events {...{ scenario }} usual={usual.events[0]} onChange={set} />
        <div>
          <Button kind="ghost" icon="refresh" onClick={forget}>
            {text.restart}
          </Button>
        </div>
      </div>
      <section className={styles.result} aria-label={text.timeline}>
        <h3 className={styles.strong}>{text.timeline}</h3>
        {scenarioFaults(settled).length === 0 && <Result {...{ category }} scenario={settled} />}
      </section>
    </div>
  );
}

interface PartProps {
  readonly scenario: Scenario;
  readonly onChange: (change: Partial<Scenario>) => void;
}

function Person({ category, scenario, onChange }: PartProps & { category: Category }) {
  const { categories, common } = useText();
  const text = categories.simulator;
  const { zone, quietHours, choices } = scenario;
  const choose = (channel: StepChannel, value: CellChoice | '') => {
    const { [channel]: _before, ...others } = choices;
    onChange({ choices: value === '' ? others : { ...others, [channel]: value } });
  };
  return (
    <fieldset className={styles.item}>
      <legend className={styles.strong}>{text.person}</legend>
      <Select
        label={common.timeZone}
        value={zone}
        options={[...new Set([zone, ...zones()])].map((each) => [each, each.replaceAll('_', ' ')] as const)}
        onChoose={(next) => onChange({ zone: next })}
      />
      <QuietHoursFields value={quietHours} onChange={(next) => onChange({ quietHours: next })} />
      {!category.is_critical && category.steps.length > 0 && (
        <fieldset className={layout.fieldset}>
          <legend className={layout.quiet}>{text.choices}</legend>
          <div className={styles.choices}>
            {channels
              .filter((channel) => category.steps.some((step) => step.channel === channel))
              .map((channel) => (
                <Select<CellChoice | ''>
                  key={channel}
                  label={categories.channels[channel]}
                  value={choices[channel] ?? ''}
                  options={[
                    ['', text.byDefault],
                    ['on', categories.on],
                    ['off', categories.off],
                    ...(channel === 'email' && category.digest !== null
                      ? ([['digest', categories.digest]] as const)
                      : []),
                  ]}
                  onChoose={(value) => choose(channel, value)}
                />
              ))}
          </div>
        </fieldset>
      )}
    </fieldset>
  );
}

function Events({ scenario, usual, onChange }: PartProps & { usual: TypedEvent | undefined }) {
  const { categories } = useText();
  const text = categories.simulator;
  const { events } = scenario;
  const faults = scenarioFaults(scenario);
  const faultAt = (fault: ScenarioFault, message: string) => (faults.includes(fault) ? message : undefined);
  const set = (place: number, change: Partial<TypedEvent>) => onChange({ events: replaced(events, place, change) });
  return (
    <>
      {events.map(({ at, readAt, json }, place) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: the number is the name of the notification
          key={place}
          className={styles.item}
        >
          <legend className={styles.strong}>{text.event(place + 1)}</legend>
          <div className={styles.itemHead}>
            <Field
              type="datetime-local"
              label={text.at}
              error={faultAt(`${place}.at`, text.notTime)}
              value={at}
              onChange={(event) => set(place, { at: event.currentTarget.value })}
            />
            <Field
              type="datetime-local"
              label={text.readAt}
              title={text.readAtHint}
              error={faultAt(`${place}.readAt`, text.notTime)}
              value={readAt}
              onChange={(event) => set(place, { readAt: event.currentTarget.value })}
            />
            <Button
              kind="ghost"
              icon="trash"
              label={text.remove(place + 1)}
              disabled={events.length === 1}
              onClick={() => onChange({ events: without(events, place) })}
            />
          </div>
          <div className={styles.code}>
            <Field
              label={categories.data}
              error={faultAt(`${place}.json`, categories.notJson)}
              value={json}
              verbatim
              onChange={(event) => set(place, { json: event.currentTarget.value })}
            />
          </div>
        </fieldset>
      ))}
      {usual !== undefined && events.length < maxEvents && (
        <div>
          <Button icon="plus" onClick={() => onChange({ events: [...events, nextEvent(events, usual)] })}>
            {text.add}
          </Button>
        </div>
      )}
    </>
  );
}

function Result({ category, scenario }: { category: Category; scenario: Scenario }) {
  const { categories } = useText();
  const text = categories.simulator;
  const body = simulationRequest(scenario, category.is_critical ? undefined : category.name);
  const query = useQuery({
    queryKey: [...categoriesKey, 'simulate', category, body],
    queryFn: async ({ signal }): Promise<{ asked: SimulationRequest; simulation: Simulation }> => ({
      asked: body,
      simulation: await request<SimulateCategoryData, Simulation>('POST', '/admin/v1/categories/{name}/simulate', {
        path: { name: category.name },
        body,
        signal,
      }),
    }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const entryOf = useEntry();
  if (query.error instanceof ProblemError && query.error.status === 422)
    return (
      <Notice kind="bad" live>
        {text.failed}
        <ul className={styles.list}>
          {query.error.errors.map(({ field = '', message, code }) => (
            <li key={`${field} ${code}`}>
              <bdi>{categories.faultAt(placeText(field, text.event), message)}</bdi>
            </li>
          ))}
        </ul>
      </Notice>
    );
  return (
    <Loaded query={query} what={text.failed} rows={6}>
      {({ asked, simulation: { timeline } }) => (
        <>
          {timeline.length === 0 && <p className={layout.quiet}>{text.none}</p>}
          <Timeline
            zone={asked.preferences?.time_zone ?? 'UTC'}
            entries={timelineOf(asked, timeline).map((line, index) => entryOf(line, index, asked))}
          />
        </>
      )}
    </Loaded>
  );
}

/** Names a notification as the form does: `events.0.data` is the data of notification 1. */
const placeText = (field: string, nameOf: (n: number) => string): string =>
  field.replace(/^events\.(\d+)\.?/, (_all, place: string) => `${nameOf(Number(place) + 1)} `).trim();

const looks = {
  sent: ['check', 'good'],
  delivered: ['check', 'good'],
  held: ['clock', 'idle'],
  digesting: ['clock', 'idle'],
  queued: ['clock', 'idle'],
  skipped: ['circleMinus', 'idle'],
  dropped: ['circleMinus', 'idle'],
  expired: ['circleCross', 'bad'],
  failed: ['circleCross', 'bad'],
  bounced: ['circleCross', 'bad'],
  complained: ['circleCross', 'bad'],
} as const;

/** A line of the timeline as a sentence. */
function useEntry(): (line: TimelineLine, index: number, request: SimulationRequest) => TimelineEntry {
  const { categories, delivery } = useText();
  const { inZone } = useFormats();
  const locale = useStore(language);
  const text = categories.simulator;
  const list = (places: readonly number[]) =>
    new Intl.ListFormat(locale).format(places.map((place) => String(place + 1)));
  return (line, index, { preferences }) => {
    const base = { id: String(index), time: line.at };
    if (line.kind !== 'step')
      return line.kind === 'read'
        ? { ...base, icon: 'eye', tone: 'idle', title: text.read(line.event + 1) }
        : { ...base, icon: 'bell', tone: 'idle', title: text.published(line.event + 1) };
    const { channel, outcome, reason, events, held_until: until } = line;
    const [icon, tone] = looks[outcome];
    const what = events === undefined ? text.one(line.event + 1) : text.several(list(events));
    const state = channel === 'push' && outcome === 'sent' ? delivery.states.sent : delivery.steps.states[outcome];
    const end = until === undefined ? undefined : inZone(preferences?.time_zone ?? 'UTC', until).join(', ');
    const details = [
      ...(end === undefined ? [] : [outcome === 'held' ? text.until(end) : text.closes(end)]),
      // Providers accept everything here.
      ...(reason === undefined || reason === 'accepted' ? [] : [reasonText(reason, channel, delivery)]),
    ];
    return {
      ...base,
      icon,
      tone,
      title: text.step(categories.channels[channel], state, what),
      ...(details.length > 0 && { detail: details.join(' ') }),
    };
  };
}

type Reason = NonNullable<Simulation['timeline'][number]['reason']>;

function reasonText(reason: Reason, channel: StepChannel, text: ReturnType<typeof useText>['delivery']): string {
  const pushes: Readonly<Record<string, string>> = text.reasons;
  const steps: Readonly<Record<string, string>> = text.steps.reasons;
  return (channel === 'push' ? (pushes[reason] ?? steps[reason]) : (steps[reason] ?? pushes[reason])) ?? reason;
}
