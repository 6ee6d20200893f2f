import { type Command, InvalidArgumentError } from 'commander';
import { type AuditFinding, type AuditReport, verifyAudit } from '../../audit/integrity/verify.js';
import { withDatabase } from '../support/dependencies.js';
import { type Io, printJson, printLine } from '../support/io.js';

interface Options {
  readonly anchor?: ReadonlyMap<string, string>;
  readonly json?: true;
}

/** Registers `postern audit` with its subcommand. It exits with 1 if it finds a difference. */
export function auditCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('audit')
    .description('check the audit events')
    .command('verify')
    .description('find audit events that were removed, added or changed since Postern stored the hash of their day')
    .option('--anchor <day=hash>', 'a hash that you stored elsewhere; can be repeated', readAnchor)
    .option('--json', 'print the result as JSON')
    .action(async ({ anchor = new Map(), json }: Options) => {
      const report = await withDatabase(io, (database, config) =>
        verifyAudit(database, { eventsAge: config.EVENT_RETENTION, anchors: anchor }),
      );
      if (json === true) printJson(io.stdout, report);
      else printReport(io, report);
      if (report.findings.length > 0) exitWith(1);
    });
}

function readAnchor(text: string, anchors: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const [, day, hash] = /^(\d{4}-\d{2}-\d{2})=([0-9a-f]{64})$/.exec(text) ?? [];
  if (day === undefined || hash === undefined)
    throw new InvalidArgumentError('Write a day and its hash, such as 2026-11-23=0f3a….');
  return new Map([...anchors, [day, hash]]);
}

function printReport(io: Io, { days, events, findings, last }: AuditReport): void {
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
  printLine(io.stdout, `${last.day}=${last.hash}`);
}

function describe({ what, day, id }: AuditFinding): string {
  if (what === 'chain') return `${day}: the hashes of this day do not match each other`;
  if (what === 'anchor') return `${day}: the hash differs from the one that you have stored`;
  return `${day}: the event ${id} was ${what}`;
}
