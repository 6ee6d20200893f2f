import type { Category, StepChannel } from '../../contract/category.js';
import type { StepReason, StepState } from '../../contract/push.js';
import { parseDuration } from '../../lib/times.js';
import { type CellChoice, type ChannelChoice, type Decision, decide, type StepFacts } from './decide.js';
import { categoryFacts, lifetime } from './facts.js';

/** What a simulation knows about the user. Absent members: the user is active, and has every proven address and one device. */
export interface SimulatedPerson {
  readonly isActive?: boolean;
  readonly isLocked?: boolean;
  readonly addresses?: Readonly<Partial<Record<StepChannel, StepFacts['address'] | 'suppressed'>>>;
  readonly channels?: Readonly<Partial<Record<StepChannel, ChannelChoice>>>;
  /** What the user has chosen for the category. */
  readonly cells?: Readonly<Partial<Record<StepChannel | 'inbox', CellChoice>>>;
}

/** A notification that is published. Times are milliseconds of Unix time. */
export interface SimulatedEvent {
  readonly at: number;
  readonly readAt?: number | undefined;
}

/** The wall clock of the user. Times are milliseconds of Unix time. */
export interface Calendar {
  /** When the quiet hours end in which a time lies; null: it lies in none. */
  quietUntil(at: number): number | null;
  /** When a digest closes that opens at a time. */
  digestDue(at: number): number;
}

/** What happens to a notification, or to the notifications of a digest. Times are milliseconds of Unix time. */
export interface SimulatedOutcome {
  readonly at: number;
  /** The place of the event. Of a digest and of pushes that became one: of the newest. */
  readonly event: number;
  readonly channel: StepChannel;
  readonly outcome: StepState;
  readonly reason?: StepReason | 'collapsed';
  /** When it is decided about again. */
  readonly heldUntil?: number;
  /** The places of all events that it stands for, if there are several. */
  readonly events?: readonly number[];
}

export interface Simulation {
  readonly category: Category;
  readonly person: SimulatedPerson;
  /** In the order of their times. */
  readonly events: readonly SimulatedEvent[];
  readonly calendar: Calendar;
  /** Milliseconds: how late a step may be whose category says nothing. */
  readonly ttl: Readonly<Record<StepChannel, number>>;
}

/** A message that waits for its time: of one event, or a digest. */
interface Message {
  readonly channel: StepChannel;
  readonly condition: StepFacts['condition'];
  readonly events: readonly number[];
  readonly dueAt: number;
  readonly isDigest: boolean;
  /** Milliseconds for which quiet hours held it. */
  held: number;
}

type Task =
  | { readonly at: number; readonly order: number; readonly kind: 'step'; readonly message: Message }
  | { readonly at: number; readonly order: number; readonly kind: 'close' | 'release' };

/** The order of what has the same time. */
const ranks = { step: 0, release: 1, close: 2 } as const;

/** More held pushes than this become one: see `quiet-hours.ts`. */
const maxSinglePushes = 3;

/**
 * What the service would do with notifications of a category for one user: the decisions of `decide`, at the times at which the service
 * asks for them. Providers accept everything at once.
 */
export function simulate(simulation: Simulation): SimulatedOutcome[] {
  return new Run(simulation).timeline();
}

class Run {
  readonly #tasks: Task[] = [];
  readonly #outcomes: SimulatedOutcome[] = [];
  /** The messages that quiet hours hold, by the time at which they end, with the time since when. */
  #held: { readonly message: Message; readonly since: number; readonly until: number }[] = [];
  /** When notifications were sent, by channel. */
  readonly #sent = new Map<StepChannel, Map<number, number>>();
  readonly #digest = {
    begin: -1,
    closedThrough: -1,
    dueAt: undefined as number | undefined,
    members: new Set<number>(),
  };
  #order = 0;

  constructor(readonly simulation: Simulation) {}

  timeline(): SimulatedOutcome[] {
    const { category, events } = this.simulation;
    for (const [place, { at }] of events.entries()) {
      for (const { channel, after, if: condition } of category.steps) {
        const dueAt = at + (parseDuration(after) ?? 0);
        const message = { channel, condition, events: [place], dueAt, isDigest: false, held: 0 };
        this.#add({ at: dueAt, kind: 'step', message });
      }
    }
    for (let task = this.#next(); task !== undefined; task = this.#next()) {
      if (task.kind === 'step') this.#decide(task.message, task.at);
      else if (task.kind === 'close') this.#close(task.at);
      else this.#release(task.at);
    }
    return this.#outcomes;
  }

  #add(task: { at: number; kind: 'step'; message: Message } | { at: number; kind: 'close' | 'release' }): void {
    const added = { ...task, order: this.#order++ };
    const isLater = (other: Task) =>
      other.at > added.at || (other.at === added.at && ranks[other.kind] > ranks[added.kind]);
    // Most tasks come in the order of their times.
    let place = this.#tasks.length;
    while (place > 0 && isLater(this.#tasks[place - 1] as Task)) place -= 1;
    this.#tasks.splice(place, 0, added);
  }
  #next = (): Task | undefined => this.#tasks.shift();

  #isRead(place: number, at: number): boolean {
    const { readAt } = this.simulation.events[place] ?? {};
    return readAt !== undefined && readAt <= at;
  }

  #factsOf(message: Message, at: number): StepFacts {
    const { category, person, calendar, ttl } = this.simulation;
    const { channel, condition, events, dueAt, isDigest, held } = message;
    const { addresses = {}, channels = {}, cells = {} } = person;
    const [place = 0] = events;
    const address = addresses[channel] ?? 'proven';
    const isHidden = !category.is_critical && (cells.inbox ?? category.defaults.inbox) === 'off';
    const others = [...(this.#sent.get(channel) ?? [])].filter(
      ([other, time]) => other !== place && time > at - (parseDuration(category.cap?.per ?? '') ?? 0),
    );
    return {
      ...{ channel, condition, wasHandedOver: false, isDigest, isMuted: false, isAllowedOut: true },
      notification: {
        isExpired: false,
        isRead: events.every((each) => this.#isRead(each, at)),
        isHidden: isHidden && !isDigest,
      },
      isLate: at - dueAt - held >= lifetime(category.ttl, ttl[channel]),
      user: { isActive: person.isActive ?? true, isLocked: person.isLocked ?? false },
      wasDelivered: [...this.#sent.values()].some((sent) => sent.has(place)),
      address: address === 'suppressed' ? 'proven' : address,
      isSuppressed: address === 'suppressed',
      category: categoryFacts(category, channel),
      chosen: { channel: channels[channel] === 'off' ? 'off' : undefined, category: cells[channel] },
      isCapped: category.cap !== null && others.length >= category.cap.count,
      digest: this.#digest.members.has(place) ? 'member' : place <= this.#digest.closedThrough ? 'past' : 'open',
      quietUntil: textOf(calendar.quietUntil(at)),
    };
  }

  #decide(message: Message, at: number): void {
    const decision = decide(this.#factsOf(message, at));
    if (decision.state === 'send') this.#send(message, at);
    else if (decision.state === 'held') this.#hold(message, at, Date.parse(decision.heldUntil));
    else if (decision.state === 'digesting') this.#join(message, at, decision);
    else this.#record(message, { at, outcome: decision.state, reason: decision.reason });
  }

  #record({ channel, events }: Message, outcome: Omit<SimulatedOutcome, 'event' | 'channel' | 'events'>): void {
    const event = Math.max(...events);
    this.#outcomes.push({ ...outcome, event, channel, ...(events.length > 1 && { events }) });
  }

  #send(message: Message, at: number): void {
    const sent = this.#sent.get(message.channel) ?? new Map<number, number>();
    // A digest does not count for the cap, and its members are known otherwise.
    if (!message.isDigest) sent.set(Math.max(...message.events), at);
    this.#sent.set(message.channel, sent);
    this.#record(message, { at, outcome: 'sent', reason: 'accepted' });
  }

  #hold(message: Message, at: number, until: number): void {
    this.#held.push({ message, since: at, until });
    this.#record(message, { at, outcome: 'held', reason: 'quiet_hours', heldUntil: until });
    this.#add({ at: until, kind: 'release' });
  }

  /** As `quiet-hours.ts` does it. */
  #release(at: number): void {
    const due = this.#held.filter(({ until }) => until <= at);
    this.#held = this.#held.filter(({ until }) => until > at);
    for (const { message, since } of due) message.held += at - since;
    const live = due.filter(
      ({ message: { channel, events } }) => channel === 'push' && !events.every((each) => this.#isRead(each, at)),
    );
    const isOne = live.length > maxSinglePushes;
    const newest = live.at(-1)?.message;
    for (const { message } of due) {
      const isCollapsed = isOne && live.some((each) => each.message === message);
      if (!isCollapsed) this.#decide(message, at);
      else if (message !== newest) this.#record(message, { at, outcome: 'dropped', reason: 'collapsed' });
      else this.#decide({ ...message, events: live.flatMap((each) => each.message.events) }, at);
    }
  }

  /** As `digests.ts` does it. */
  #join(message: Message, at: number, { reason }: Decision & { readonly state: 'digesting' }): void {
    const [place = 0] = message.events;
    const begin = this.#digest.dueAt === undefined ? place - 1 : Math.min(this.#digest.begin, place - 1);
    this.#digest.begin = Math.max(this.#digest.closedThrough, begin);
    if (this.#digest.dueAt === undefined) {
      this.#digest.dueAt = this.simulation.calendar.digestDue(at);
      this.#add({ at: this.#digest.dueAt, kind: 'close' });
    }
    this.#record(message, { at, outcome: 'digesting', reason, heldUntil: this.#digest.dueAt });
  }

  #close(at: number): void {
    const { category, events, person } = this.simulation;
    const isHidden = !category.is_critical && (person.cells?.inbox ?? category.defaults.inbox) === 'off';
    const sent = this.#sent.get('email');
    const members = [...events.keys()].filter(
      (place) =>
        place > this.#digest.begin &&
        (events[place] as SimulatedEvent).at <= at &&
        !this.#isRead(place, at) &&
        !isHidden &&
        sent?.has(place) !== true,
    );
    const head = events.filter((event) => event.at <= at).length - 1;
    this.#digest.closedThrough = Math.max(this.#digest.closedThrough, head);
    this.#digest.dueAt = undefined;
    if (members.length === 0) return;
    for (const place of members) this.#digest.members.add(place);
    this.#held = this.#held.filter(
      ({ message }) => message.channel !== 'email' || message.isDigest || !members.includes(message.events[0] ?? -1),
    );
    this.#decide({ channel: 'email', condition: 'unread', events: members, dueAt: at, isDigest: true, held: 0 }, at);
  }
}

const textOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
