const destructive = [
  /^drop (?:table|view|materialized view|function|procedure|schema|type|sequence|domain)\b/,
  /^alter table\b.*\bdrop (?:column\b|(?!constraint|not null|default|expression|identity)\w)/,
  /^alter (?!index)\w+\b.*\brename\b/,
  /^alter table\b.*\balter (?:column )?\S+ (?:set data )?type\b/,
  /^alter table\b.*\bset not null\b/,
];

/** Statements after which a release that runs on the former schema fails. */
export function destructiveStatements(text: string): string[] {
  const plain = text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replaceAll(/'(?:[^']|'')*'/g, "''");
  return plain
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim().toLowerCase())
    .filter((statement, _, all) => isDestructive(statement) && !isRenameWithView(statement, all));
}

const isDestructive = (statement: string) =>
  destructive.some((pattern) => pattern.test(statement)) || addsRequiredColumn(statement);

/** Whether a table is renamed and its former name is a view of it, which the former release uses as it used the table. */
function isRenameWithView(statement: string, all: readonly string[]): boolean {
  const [, former = '', present = ''] = /^alter table (\w+) rename to (\w+)$/.exec(statement) ?? [];
  return former !== '' && all.includes(`create view ${former} as select * from ${present}`);
}

/** Whether INSERTs of the former release, which do not name the column, fail. */
function addsRequiredColumn(statement: string): boolean {
  if (!statement.startsWith('alter table')) return false;
  return statement
    .split(/,(?![^(]*\))/)
    .some((part) => /\badd column\b.*\bnot null\b/.test(part) && !/\b(?:default|generated)\b/.test(part));
}
