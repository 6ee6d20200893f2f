export function changedFiles(root: string, since: string): string[];
export function touchedFiles(changed: readonly string[], files: readonly string[]): string[] | undefined;
export function testFiles(root: string): string[];
