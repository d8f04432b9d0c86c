/** Tables from files of any kind. */

import { thousands, type Table } from "../table";

async function read(file: File): Promise<Table> {
  const { name } = file;
  const bytes = await file.arrayBuffer();
  switch (name.toLowerCase().split(".").pop()) {
    case "csv":
      return (await import("./csv")).readCsv(name, bytes);
    case "npy":
      return (await import("./npy")).readNpy(name, bytes);
    case "parquet":
    case "pq":
      return (await import("./parquet")).readParquet(name, bytes);
    default:
      throw new Error(`${name}: unknown file format; .npy, .csv and .parquet are supported`);
  }
}

/** Two tables side by side: both describe the same items. */
function beside(first: Table, second: Table): Table {
  if (first.rows !== second.rows) {
    const header = second.name.endsWith(".csv") && second.rows + 1 === first.rows;
    const hint = header ? " (the first line of the rows is read as a header)" : "";
    const counts = `there are ${thousands(second.rows)} rows for the ${thousands(first.rows)} items of ${first.name}`;
    throw new Error(`${second.name}: ${counts}${hint}`);
  }
  return {
    name: `${first.name}, ${second.name}`,
    rows: first.rows,
    columns: [...first.columns, ...second.columns],
    notes: [...first.notes, ...second.notes],
  };
}

/** Reads files that describe the same items; arrays come before tables. */
export async function open(files: File[]): Promise<Table> {
  const arrays = files.filter(({ name }) => /\.npy$/i.test(name));
  const tables = await Promise.all([...arrays, ...files.filter((file) => !arrays.includes(file))].map(read));
  return tables.reduce(beside);
}
