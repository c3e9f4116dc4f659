/** Flags by subject, for the pages of --help: each flag is listed under one heading. */

export interface Subjects {
  /** Returns the heading of a flag; throws for a flag without a heading. */
  headingOf(name: string): string;
  /** Returns the names in the order of the headings and of the names below them. */
  sorted<N extends string>(names: readonly N[]): N[];
}

/** Creates the subjects; `file` is the file to which a missing name must be added. */
export function subjects(file: string, table: Readonly<Record<string, readonly string[]>>): Subjects {
  const all = Object.entries(table).flatMap(([heading, names]) =>
    names.map((name) => [name, heading] as const),
  );
  const headings = new Map(all);
  const places = new Map<string, number>(all.map(([name], index) => [name, index]));
  const placeOf = (name: string) => places.get(name) ?? all.length;
  return {
    headingOf(name) {
      const heading = headings.get(name);
      if (heading === undefined) throw new Error(`--${name} has no subject: give it one in ${file}`);
      return heading;
    },
    sorted: (names) => names.toSorted((a, b) => placeOf(a) - placeOf(b)),
  };
}
