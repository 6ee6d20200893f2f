import type { Category, StepChannel } from '../../contract/category.js';
import type { StepReason, StepState } from '../../contract/push.js';
import { parseDuration } from '../../lib/times.js';
import { type CellChoice, type ChannelChoice, type Decision, decide, refusedPush, type StepFacts } from './decide.js';
import { categoryFacts, lifetime } from './facts.js';
import { maxSinglePushes } from './quiet-hours.js';

/** The user of a simulation. By default, the user is active, and has all proven addresses and one device. */
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
  /** The end of the quiet hours that contain a time; null if none do. */
  quietUntil(at: number): number | null;
  /** The time at which a digest closes, if it opens at this time. */
  digestDue(at: number): number;
}

/** What happens to a notification, or to the notifications of a digest. Times are milliseconds of Unix time. */
export interface SimulatedOutcome {
  readonly at: number;
  /** The index of the event. For a digest or a push about several events, the newest one. */
  readonly event: number;
  readonly channel: StepChannel;
  readonly outcome: StepState;
  readonly reason?: StepReason | 'collapsed';
  /** The time of the next decision. */
  readonly heldUntil?: number;
  /** The indexes of all its events, if there are several. */
  readonly events?: readonly number[];
}

export interface SimulationInput {
  readonly category: Category;
  readonly person: SimulatedPerson;
  /** In the order of their times. */
  readonly events: readonly SimulatedEvent[];
  readonly calendar: Calendar;
  /** How late a step may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: Readonly<Record<StepChannel, number>>;
}

/** A message that waits for its time, about one event or as a digest. */
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

/** The order of tasks with the same time. */
const ranks = { step: 0, release: 1, close: 2 } as const;

/**
 * Predicts what the service does with notifications of a category for one user. It calls `decide` at the same times as the service.
 * Providers accept everything at once.
 */
export function simulate(input: SimulationInput): SimulatedOutcome[] {
  return new Run(input).timeline();
}

const isBefore = (one: Task, other: Task): boolean =>
  one.at - other.at < 0 ||
  (one.at === other.at && (ranks[one.kind] - ranks[other.kind] || one.order - other.order) < 0);

/** The next actions, in the order of time. */
class Tasks {
  readonly #tasks: Task[];
  #done = 0;
  constructor(tasks: readonly Task[]) {
    this.#tasks = [...tasks].sort((one, other) => (isBefore(one, other) ? -1 : 1));
  }
  add(at: number, kind: 'close' | 'release'): void {
    const task: Task = { at, kind, order: this.#tasks.length };
    let [first, last] = [this.#done, this.#tasks.length];
    while (first < last) {
      const middle = Math.floor((first + last) / 2);
      if (isBefore(this.#tasks[middle] as Task, task)) first = middle + 1;
      else last = middle;
    }
    this.#tasks.splice(first, 0, task);
  }
  next = (): Task | undefined => this.#tasks[this.#done++];
}

/** The notifications that one channel has sent, in the order of time. */
class SentNotifications {
  readonly #places = new Set<number>();
  readonly #times: number[] = [];
  #old = 0;
  has = (place: number): boolean => this.#places.has(place);
  add(place: number, at: number): void {
    this.#places.add(place);
    this.#times.push(at);
  }
  /** How many were sent after a time. The time never goes back. */
  countAfter(time: number): number {
    while ((this.#times[this.#old] ?? Number.POSITIVE_INFINITY) <= time) this.#old += 1;
    return this.#times.length - this.#old;
  }
}

class Run {
  readonly #tasks: Tasks;
  readonly #outcomes: SimulatedOutcome[] = [];
  /** The messages that quiet hours hold, with the start and the end of the hold. */
  #held: { readonly message: Message; readonly since: number; readonly until: number }[] = [];
  readonly #sent = {
    push: new SentNotifications(),
    email: new SentNotifications(),
    sms: new SentNotifications(),
  };
  readonly #digest = {
    begin: -1,
    closedThrough: -1,
    dueAt: undefined as number | undefined,
    joined: new Set<number>(),
    members: new Set<number>(),
    /** The members whose mail was sent. */
    sent: new Set<number>(),
  };
  readonly #isHidden: boolean;
  /** Milliseconds in which the cap counts. */
  readonly #period: number;

  constructor(readonly input: SimulationInput) {
    const { category, events, person } = input;
    this.#isHidden = !category.is_critical && (person.cells?.inbox ?? category.defaults.inbox) === 'off';
    this.#period = parseDuration(category.cap?.per ?? '') ?? 0;
    const steps = category.steps.map(({ channel, after, if: condition }) => ({
      channel,
      condition,
      delay: parseDuration(after) ?? 0,
    }));
    const tasks = [...events.entries()].flatMap(([place, { at }]) =>
      steps.map(({ channel, condition, delay }, order): Task => {
        const message = { channel, condition, events: [place], dueAt: at + delay, isDigest: false, held: 0 };
        return { at: at + delay, kind: 'step', message, order: place * steps.length + order };
      }),
    );
    this.#tasks = new Tasks(tasks);
  }

  timeline(): SimulatedOutcome[] {
    for (let task = this.#tasks.next(); task !== undefined; task = this.#tasks.next()) {
      if (task.kind === 'step') this.#decide(task.message, task.at);
      else if (task.kind === 'close') this.#close(task.at);
      else this.#release(task.at);
    }
    return this.#outcomes;
  }

  #isRead(place: number, at: number): boolean {
    const { readAt } = this.input.events[place] ?? {};
    return readAt !== undefined && readAt <= at;
  }

  #factsOf(message: Message, at: number): StepFacts {
    const { category, person, calendar, ttl } = this.input;
    const { channel, condition, events, dueAt, isDigest, held } = message;
    const { addresses = {}, channels = {}, cells = {} } = person;
    const [place = 0] = events;
    const address = addresses[channel] ?? 'proven';
    return {
      channel,
      condition,
      wasHandedOver: false,
      isDigest,
      isMuted: false,
      isAllowedOut: true,
      notification: {
        isExpired: false,
        isRead: events.every((each) => this.#isRead(each, at)),
        isHidden: this.#isHidden && !isDigest,
      },
      isLate: at - dueAt - held >= lifetime(category.ttl, ttl[channel]),
      user: { isActive: person.isActive ?? true, isLocked: person.isLocked ?? false },
      wasDelivered: [...Object.values(this.#sent), this.#digest.sent].some((sent) => sent.has(place)),
      address: address === 'suppressed' ? 'proven' : address,
      isSuppressed: address === 'suppressed',
      category: categoryFacts(category, channel),
      chosen: { channel: channels[channel] === 'off' ? 'off' : undefined, category: cells[channel] },
      isCapped: category.cap !== null && this.#sent[channel].countAfter(at - this.#period) >= category.cap.count,
      digest: this.#digest.members.has(place) ? 'member' : place <= this.#digest.closedThrough ? 'past' : 'open',
      quietUntil: textOf(calendar.quietUntil(at)),
    };
  }

  #decide(message: Message, at: number): void {
    const decision = decide(this.#factsOf(message, at));
    if (decision.state === 'send') this.#send(message, at);
    else if (decision.state === 'held') this.#hold(message, at, Date.parse(decision.heldUntil));
    else if (decision.state === 'digesting') this.#join(message, at, decision);
    else {
      const outcome = message.channel === 'push' ? refusedPush(decision.state) : decision.state;
      this.#record(message, { at, outcome, reason: decision.reason });
    }
  }

  #record({ channel, events }: Message, outcome: Omit<SimulatedOutcome, 'event' | 'channel' | 'events'>): void {
    const event = Math.max(...events);
    this.#outcomes.push({ ...outcome, event, channel, ...(events.length > 1 && { events }) });
  }

  #send(message: Message, at: number): void {
    // A digest does not count for the cap. Its mail shows the notifications that are still unread.
    if (message.isDigest) for (const place of message.events) this.#digest.sent.add(place);
    else this.#sent[message.channel].add(Math.max(...message.events), at);
    const events = message.isDigest ? message.events.filter((each) => !this.#isRead(each, at)) : message.events;
    this.#record({ ...message, events }, { at, outcome: 'sent', reason: 'accepted' });
  }

  #hold(message: Message, at: number, until: number): void {
    if (!this.#held.some((other) => other.until === until)) this.#tasks.add(until, 'release');
    this.#held.push({ message, since: at, until });
    this.#record(message, { at, outcome: 'held', reason: 'quiet_hours', heldUntil: until });
  }

  /** As `quiet-hours.ts` does it. */
  #release(at: number): void {
    const due = this.#held.filter(({ until }) => until <= at);
    this.#held = this.#held.filter(({ until }) => until > at);
    for (const { message, since } of due) message.held += at - since;
    const live = due.flatMap(({ message }) =>
      message.channel === 'push' && !message.events.every((each) => this.#isRead(each, at)) ? [message] : [],
    );
    const newest = live.at(-1);
    const collapsed = new Set(live.length > maxSinglePushes ? live : []);
    for (const { message } of due) {
      if (!collapsed.has(message)) this.#decide(message, at);
      else if (message !== newest) this.#record(message, { at, outcome: 'dropped', reason: 'collapsed' });
      else this.#decide({ ...message, events: live.flatMap(({ events }) => events) }, at);
    }
  }

  /** As `digests.ts` does it. */
  #join(message: Message, at: number, { reason }: Decision & { readonly state: 'digesting' }): void {
    const [place = 0] = message.events;
    const begin = this.#digest.dueAt === undefined ? place - 1 : Math.min(this.#digest.begin, place - 1);
    this.#digest.begin = Math.max(this.#digest.closedThrough, begin);
    if (this.#digest.dueAt === undefined) {
      this.#digest.dueAt = this.input.calendar.digestDue(at);
      this.#tasks.add(this.#digest.dueAt, 'close');
    }
    this.#digest.joined.add(place);
    this.#record(message, { at, outcome: 'digesting', reason, heldUntil: this.#digest.dueAt });
  }

  #close(at: number): void {
    const { events } = this.input;
    const members: number[] = [];
    let head = Math.max(this.#digest.begin, this.#digest.closedThrough);
    for (let place = this.#digest.begin + 1; (events[place]?.at ?? Number.POSITIVE_INFINITY) <= at; place += 1) {
      head = Math.max(head, place);
      if (this.#isHidden || this.#sent.email.has(place)) continue;
      if (!this.#isRead(place, at)) members.push(place);
      else if (this.#digest.joined.has(place))
        this.#outcomes.push({ at, event: place, channel: 'email', outcome: 'skipped', reason: 'read' });
    }
    this.#digest.closedThrough = head;
    this.#digest.dueAt = undefined;
    if (members.length === 0) return;
    for (const place of members) this.#digest.members.add(place);
    const included = new Set(members);
    this.#held = this.#held.filter(
      ({ message }) => message.channel !== 'email' || message.isDigest || !included.has(message.events[0] ?? -1),
    );
    this.#decide({ channel: 'email', condition: 'unread', events: members, dueAt: at, isDigest: true, held: 0 }, at);
  }
}

const textOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
