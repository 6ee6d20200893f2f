import { csvLine } from '../../lib/csv.js';
import { download } from '../../lib/download.js';
import { useText } from '../../text/text.js';
import { Menu } from '../menu/menu.js';
import { toast } from '../toast/toasts.js';

/** The maximum number of rows of an export. They are kept in memory until they are saved. */
const maxRows = 10_000;

interface ExportMenuProps<Row> {
  /** The name of the file, without its ending. */
  readonly name: string;
  /** The columns of the CSV file. The NDJSON file has all members of a row. */
  readonly columns: readonly (keyof Row)[];
  /** Reads a page of what the list shows. */
  readonly read: (
    cursor: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly data: readonly Row[]; readonly page: { readonly next_cursor: string | null } }>;
}

/** Saves all rows that match the filters, as CSV or NDJSON, with progress. */
export function ExportMenu<Row>({ name, columns, read }: ExportMenuProps<Row>) {
  const { common: text } = useText();

  async function save(kind: 'csv' | 'ndjson'): Promise<void> {
    const stopping = new AbortController();
    const progress = toast.progress(text.exporting(0), { name: text.cancel, run: () => stopping.abort() });
    try {
      const rows: Row[] = [];
      let cursor: string | undefined;
      do {
        const { data, page } = await read(cursor, stopping.signal);
        rows.push(...data);
        cursor = page.next_cursor ?? undefined;
        progress.update(Math.min(1, rows.length / maxRows), text.exporting(rows.length));
      } while (cursor !== undefined && rows.length < maxRows);
      if (kind === 'csv') {
        const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
        download(`${name}.csv`, lines.map(csvLine).join('\r\n'), 'text/csv');
      } else download(`${name}.ndjson`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''), 'application/x-ndjson');
      toast.done(cursor === undefined ? text.exported(rows.length) : text.exportedPart(rows.length));
    } catch (error) {
      if (!stopping.signal.aborted) toast.failed(text.exportFailed, error);
    } finally {
      progress.end();
    }
  }

  return (
    <Menu
      label={text.export}
      icon="download"
      items={[
        { name: text.asCsv, run: () => void save('csv') },
        { name: text.asNdjson, run: () => void save('ndjson') },
      ]}
    >
      {text.export}
    </Menu>
  );
}
