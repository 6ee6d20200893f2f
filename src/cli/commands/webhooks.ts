import { setTimeout as wait } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { type OpenWebhooks, openWebhooks } from '../../app/domains/webhooks.js';
import { type Webhook, type WebhookEventType, webhookEventTypes } from '../../contract/webhooks.js';
import type { Database } from '../../database/database.js';
import { needSecretKeys } from '../../keys/secret-key-file.js';
import { createSecretKeys } from '../../lib/crypto/secret-keys.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { type EventTail, tailEvents } from '../../webhooks/tail.js';
import { cliOrigin, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';

interface CreateOptions {
  readonly url: string;
  readonly events: string[];
  readonly filter?: string;
  readonly description?: string;
  readonly payload?: 'thin' | 'full';
  readonly json?: true;
}

interface ReplayOptions {
  readonly from?: string;
  readonly to?: string;
  readonly delivery?: string[];
}

/** Milliseconds between two queries for new events. */
const tailIntervalMs = 500;

/** Registers `postern webhooks` with its subcommands. */
export function webhooksCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  const webhooks = program.command('webhooks').description('manage webhooks, and show their events');
  webhooks
    .command('list')
    .description('list the webhooks and the state of their deliveries')
    .option('--json', 'print the webhooks as JSON')
    .action((options: { json?: true }) => list(io, options.json === true));
  webhooks
    .command('create')
    .description('create a webhook; its secret is shown only now')
    .requiredOption('--url <url>', 'where events are sent')
    .requiredOption('--events <list>', 'types or groups, joined by commas, such as user.*,login.locked', parseList)
    .option('--filter <filter>', 'only events that match, such as authenticator:sms')
    .option('--description <text>', 'what the webhook is for')
    .option('--payload <form>', 'thin (ids and names of fields) or full (also the resource)', parsePayload)
    .option('--json', 'print the webhook as JSON')
    .addHelpText('after', '\nExample:\n  postern webhooks create --url https://example.com/postern --events user.*')
    .action((options: CreateOptions) => create(io, options));
  webhooks
    .command('test')
    .description('send an example of an event once; the exit code is 1 if the endpoint does not accept it')
    .argument('<id>', 'the id that `webhooks list` shows', parseWebhookId)
    .option('--type <type>', 'the type of the event', parseType, 'user.created')
    .action(async (id: string, { type }: { type: WebhookEventType }) => {
      if (!(await test(io, id, type))) exitWith(1);
    });
  webhooks
    .command('replay')
    .description('send events of the last 30 days again')
    .argument('<id>', 'the id that `webhooks list` shows', parseWebhookId)
    .option('--from <time>', 'events from this time on, such as 2026-11-01T00:00:00Z')
    .option('--to <time>', 'events before this time (default now)')
    .option('--delivery <ids>', 'the events of these deliveries, joined by commas', parseList)
    .action((id: string, options: ReplayOptions) => replay(io, id, options));
  webhooks
    .command('tail')
    .description(
      'print events from the start of the command until it is interrupted; they are recorded only while there is a webhook',
    )
    .option('--json', 'print each event as a line of JSON')
    .action((options: { json?: true }) => tail(io, options.json === true));
}

const parseList = (list: string): string[] => list.split(',').map((item) => item.trim());

function parsePayload(text: string): 'thin' | 'full' {
  if (text !== 'thin' && text !== 'full') throw new InvalidArgumentError('Allowed are: thin, full.');
  return text;
}

function parseWebhookId(text: string): string {
  const id = parseId(text);
  if (id === undefined) throw new InvalidArgumentError('It has the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.');
  return id;
}

function parseType(text: string): WebhookEventType {
  const type = webhookEventTypes.find((candidate) => candidate === text);
  if (type === undefined) throw new InvalidArgumentError(`Allowed are: ${webhookEventTypes.join(', ')}.`);
  return type;
}

function withWebhooks<T>(io: Io, work: (services: OpenWebhooks, database: Database) => Promise<T>): Promise<T> {
  return withDatabase(io, async (database, config) => {
    const services = openWebhooks(config, database, createSecretKeys(await needSecretKeys(config)));
    try {
      return await work(services, database);
    } catch (error) {
      const isUnknown = error instanceof Problem && error.code === 'not_found';
      throw isUnknown ? new CommandError('There is no such webhook; see `postern webhooks list`.') : error;
    } finally {
      await services.close();
    }
  });
}

async function list(io: Io, json: boolean): Promise<void> {
  const { items } = await withWebhooks(io, ({ webhooks }) =>
    webhooks.list({ page: 1, limit: 100, sort: [{ field: 'created_at', direction: 'asc' }], filter: [] }),
  );
  if (json) return printJson(io.stdout, items);
  if (items.length === 0) return printLine(io.stdout, 'There are no webhooks.');
  const rows = items.map((webhook) => [
    webhook.id,
    webhook.url,
    webhook.events.join(','),
    describeState(webhook),
    `${webhook.pending}`,
  ]);
  printTable(io.stdout, [['ID', 'URL', 'EVENTS', 'STATE', 'PENDING'], ...rows]);
}

function describeState({ enabled, disabled_reason, failing_since }: Webhook): string {
  if (!enabled) return `disabled: ${disabled_reason}`;
  return failing_since === null ? 'enabled' : `failing since ${failing_since}`;
}

async function create(io: Io, { json, ...input }: CreateOptions): Promise<void> {
  const webhook = await withWebhooks(io, ({ webhooks }, database) =>
    database.transaction((tx) => webhooks.create(tx, input, cliOrigin)),
  );
  if (json === true) return printJson(io.stdout, webhook);
  printTable(io.stdout, [
    ['id', webhook.id],
    ['url', webhook.url],
    ['events', webhook.events.join(',')],
    ['payload', webhook.payload],
    ['secret', webhook.secret],
  ]);
}

async function test(io: Io, id: string, type: WebhookEventType): Promise<boolean> {
  const { ok, status, error, answer, duration_ms } = await withWebhooks(io, ({ testWebhook }) => testWebhook(id, type));
  printTable(io.stdout, [
    ['result', ok ? 'accepted' : (error ?? 'failed')],
    ['status', status === null ? 'none' : `${status}`],
    ['duration', `${duration_ms} ms`],
    ['answer', answer ?? ''],
  ]);
  return ok;
}

async function replay(io: Io, id: string, { from, to, delivery }: ReplayOptions): Promise<void> {
  const request = {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(delivery !== undefined && { delivery_ids: delivery.map(parseWebhookId) }),
  };
  const { events } = await withWebhooks(io, ({ webhookDeliveries }) =>
    webhookDeliveries.replay(id, request, cliOrigin),
  );
  printLine(io.stdout, `The running service replays ${events === 1000 ? '1000 or more' : events} events.`);
}

async function tail(io: Io, json: boolean): Promise<void> {
  const interruption = new AbortController();
  const stop = () => interruption.abort();
  for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.on(signal, stop);
  try {
    await withDatabase(io, async (database) => {
      const events: EventTail = tailEvents(database, Date.now() - (io.startedAt ?? Date.now()));
      while (!interruption.signal.aborted) {
        for (const event of await events.next()) {
          const { created_at, type, user_id, sequence, data } = event;
          const text = `${created_at}  ${type}  user ${user_id}  ${sequence}  ${JSON.stringify(data)}`;
          printLine(io.stdout, json ? JSON.stringify(event) : text);
        }
        await wait(tailIntervalMs, undefined, { signal: interruption.signal }).catch(() => undefined);
      }
    });
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.off(signal, stop);
  }
}
