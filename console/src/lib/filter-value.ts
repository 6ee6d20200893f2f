/** A value in the text of a filter. Separators of the grammar are escaped. */
export const filterValue = (value: string) => value.replace(/[\\:,|;[\]]/g, '\\$&');
