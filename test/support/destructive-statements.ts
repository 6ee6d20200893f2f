const destructive = [
  /^drop (?:table|view|materialized view|function|procedure|schema|type|sequence|domain)\b/,
  /^alter table\b.*\bdrop (?:column\b|(?!constraint|not null|default|expression|identity)\w)/,
  /^alter \w+\b.*\brename\b/,
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
    .filter((statement) => destructive.some((pattern) => pattern.test(statement)) || addsRequiredColumn(statement));
}

/** Whether INSERTs of the former release, which do not name the column, fail. */
function addsRequiredColumn(statement: string): boolean {
  if (!statement.startsWith('alter table')) return false;
  return statement
    .split(/,(?![^(]*\))/)
    .some((part) => /\badd column\b.*\bnot null\b/.test(part) && !/\b(?:default|generated)\b/.test(part));
}
