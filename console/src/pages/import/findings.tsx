import { Link } from '@tanstack/react-router';
import type { Column } from '../../components/table/row.js';
import { Table } from '../../components/table/table.js';
import { None, UserText } from '../../components/text/values.js';
import { useFormats, useText } from '../../text/text.js';
import type { Texts } from '../../text/texts.js';
import type { Outcome } from './run.js';
import { messageOf } from './state.js';

/** The rows that failed or exist already, by line. */
export function Findings({ findings }: { findings: ReadonlyMap<number, Outcome> }) {
  const text = useText();
  const { imports } = text;
  const { number } = useFormats();
  if (findings.size === 0) return null;
  const columns: readonly Column<Outcome>[] = [
    { key: 'line', head: imports.line, isNumber: true, cell: ({ line }) => number(line) },
    {
      key: 'user',
      head: imports.user,
      cell: ({ displayName }) => (displayName === '' ? <None /> : <UserText strong text={displayName} />),
    },
    {
      key: 'field',
      head: imports.field,
      isHiddenIfNarrow: true,
      cell: (row) => <Fields outcome={row} text={imports} />,
    },
    { key: 'reason', head: imports.reason, size: 'wide', cell: (row) => <Reasons outcome={row} text={text} /> },
  ];
  return (
    <Table
      label={imports.rows}
      columns={columns}
      rows={[...findings.values()]}
      idOf={({ line }) => String(line)}
      nameOf={({ line, displayName }) => `${imports.line} ${number(line)} ${displayName}`}
      compact={(row) => (
        <>
          <UserText strong text={`${imports.line} ${number(row.line)} · ${row.displayName || imports.noName}`} />
          <Reasons outcome={row} text={text} withField />
        </>
      )}
    />
  );
}

const nameOfField = (field: string | undefined, { targets }: Texts['imports']) => {
  const plain = field?.replace(/^\//, '') ?? '';
  return Object.entries(targets).find(([name]) => name === plain)?.[1] ?? plain;
};

function Fields({ outcome: { errors }, text }: { outcome: Outcome; text: Texts['imports'] }) {
  const names = [...new Set(errors.map(({ field }) => nameOfField(field, text)))].filter((name) => name !== '');
  return names.length === 0 ? <None /> : <UserText text={names.join(', ')} />;
}

function Reasons({
  outcome: { errors, result, id },
  text,
  withField = false,
}: {
  outcome: Outcome;
  text: Texts;
  withField?: boolean;
}) {
  if (errors.length === 0 && result === 'exists') {
    if (id === undefined) return text.imports.existing;
    return (
      <Link to="/users/$id" params={{ id }} search={{}}>
        {text.imports.existing}
      </Link>
    );
  }
  return errors.map((error) => {
    const field = nameOfField(error.field, text.imports);
    return (
      <div key={`${error.field} ${error.code}`}>
        {withField && field !== '' && `${field}: `}
        {messageOf(error, text)}
      </div>
    );
  });
}
