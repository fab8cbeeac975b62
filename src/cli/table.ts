/** Columns for people: each as wide as its widest cell, numbers to the right. */

export type Cell = string | number | bigint;

/** Lines of a table with a headline; "" without rows. */
export function table(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const texts = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, column) => Math.max(...texts.map((row) => row[column]!.length)));
  const isNumber = columns.map((_, column) => rows.every((row) => typeof row[column] !== 'string'));
  const line = (row: readonly string[]): string =>
    row.map((text, at) => (isNumber[at] ? text.padStart(widths[at]!) : text.padEnd(widths[at]!))).join('  ');
  return `${texts.map((row) => line(row).trimEnd()).join('\n')}\n`;
}
