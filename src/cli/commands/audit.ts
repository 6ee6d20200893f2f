import { type Command, InvalidArgumentError } from 'commander';
import { type AuditFinding, type AuditReport, verifyAudit } from '../../audit/integrity/verify.js';
import { mainShard } from '../../database/database.js';
import { withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printLine } from '../support/io.js';

/** Hashes by day, for each server. */
type Anchors = ReadonlyMap<string, ReadonlyMap<string, string>>;

interface Options {
  readonly anchor?: Anchors;
  readonly json?: true;
}

/** Registers `postern audit` with its subcommand. It exits with 1 if it finds a difference. */
export function auditCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('audit')
    .description('check the audit events')
    .command('verify')
    .description('find audit events that were removed, added or changed since Postern stored the hash of their day')
    .option(
      '--anchor <day=hash>',
      'a hash that you stored elsewhere; can be repeated (with SHARDS: server:day=hash)',
      readAnchor,
    )
    .option('--json', 'print the result as JSON')
    .action(async ({ anchor = new Map(), json }: Options) => {
      const reports = await withDatabase(io, async (database, config) => {
        const unknown = [...anchor.keys()].find((name) => database.shards.every((shard) => shard.name !== name));
        if (unknown !== undefined) throw new CommandError(`SHARDS does not name the server ${unknown} of --anchor.`);
        const found = new Map<string, AuditReport>();
        for (const shard of database.shards) {
          const anchors = anchor.get(shard.name) ?? new Map<string, string>();
          const others = database.shards.filter((other) => other !== shard);
          found.set(shard.name, await verifyAudit(shard, { eventsAge: config.EVENT_RETENTION, anchors, others }));
        }
        return found;
      });
      if (json === true)
        printJson(io.stdout, reports.size === 1 ? reports.get(mainShard) : Object.fromEntries(reports));
      else {
        for (const [name, report] of reports) {
          if (reports.size > 1) printLine(io.stdout, `The server ${name}:`);
          printReport(io, report, reports.size > 1 ? `${name}:` : '');
        }
      }
      if ([...reports.values()].some(({ findings }) => findings.length > 0)) exitWith(1);
    });
}

/** Without a server, the hash is that of `main`: it may be older than SHARDS. */
function readAnchor(text: string, anchors: Anchors = new Map()): Anchors {
  const [, server = mainShard, day, hash] =
    /^(?:([a-z][a-z0-9-]*):)?(\d{4}-\d{2}-\d{2})=([0-9a-f]{64})$/.exec(text) ?? [];
  if (day === undefined || hash === undefined)
    throw new InvalidArgumentError('Write a day and its hash, such as 2026-11-23=0f3a….');
  return new Map([...anchors, [server, new Map([...(anchors.get(server) ?? []), [day, hash]])]]);
}

/** @param prefix the text before the anchor: the name of the server and a colon, or empty */
function printReport(io: Io, { days, events, findings, last }: AuditReport, prefix: string): void {
  for (const finding of findings) printLine(io.stdout, describe(finding));
  if (last === undefined) {
    printLine(
      io.stdout,
      'No day has a hash yet. Postern stores the hash of the events of a day an hour after its end, in UTC.',
    );
    return;
  }
  printLine(io.stdout, `Checked ${days} days with ${events} events: ${findings.length} findings.`);
  printLine(
    io.stdout,
    `The last day with a hash is ${last.day}. Store the hash outside of the database, for --anchor:`,
  );
  printLine(io.stdout, `${prefix}${last.day}=${last.hash}`);
}

function describe({ what, day, id }: AuditFinding): string {
  if (what === 'chain') return `${day}: the hashes of this day do not match each other`;
  if (what === 'anchor') return `${day}: the hash differs from the one that you have stored`;
  return `${day}: the event ${id} was ${what}`;
}
