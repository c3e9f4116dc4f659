/** The place of the cursor in a YAML text, by its indentation: the text may be unfinished. Pure. */
export interface YamlPlace {
  /** Keys from the root to the object around the cursor; `-` for an item of a list. */
  readonly path: readonly string[];
  /** The field whose value is being written; empty while a field's name is. */
  readonly key: string;
  /** The beginning of the word that is being written, and its offset in the text. */
  readonly word: string;
  readonly from: number;
  /** Fields that the object has already. */
  readonly siblings: readonly string[];
}

/** A field or an item of a list that begins in a column. */
interface Step {
  readonly column: number;
  /** Name of the field; `-` for an item. */
  readonly name: string;
}

/** The marks before a field: its indentation, and the dashes of the lists that begin there. */
const marks = /^(\s*)((?:- +)*)(-$)?/;
const field = /^(?:"([^"]*)"|'([^']*)'|([^\s#:"'][^:#]*?))\s*:(?:\s|$)/;

interface Line {
  readonly items: readonly Step[];
  /** Column of the field, or of the text that is written there. */
  readonly column: number;
  /** Name of the field; empty if the line has none. */
  readonly name: string;
}

function lineOf(text: string): Line {
  const [all = '', space = '', dashes = '', bare = ''] = marks.exec(text) ?? [];
  const [, double, single, plain] = field.exec(text.slice(all.length)) ?? [];
  const items = Array.from(`${dashes}${bare}`.matchAll(/-/g), ({ index }) => ({
    column: space.length + index,
    name: '-',
  }));
  return { items, column: all.length, name: double ?? single ?? plain ?? '' };
}

/** Returns the steps that begin on each line, in order. */
const stepsOf = (lines: readonly string[]): Step[] =>
  lines
    .filter((text) => !/^\s*(#|$)/.test(text))
    .map(lineOf)
    .flatMap(({ items, column, name }) => [...items, ...(name === '' ? [] : [{ column, name }])]);

export function yamlPlace(text: string, offset: number): YamlPlace {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const written = text.slice(lineStart, offset);
  const above = stepsOf(text.slice(0, lineStart).split('\n'));
  const below = stepsOf(text.slice(offset).split('\n').slice(1));
  const current = lineOf(written);
  const [, key = '', value] = /^\s*(?:- +)*([^\s#:]+)\s*:\s+(.*)$/.exec(written) ?? [];
  const word = value ?? /\S*$/.exec(written)?.[0] ?? '';
  const upwards = current.items.length > 0 ? [] : above.toReversed();
  return {
    path: pathTo([...above, ...current.items], current.column),
    key,
    word,
    from: offset - word.length,
    siblings: [...besides(upwards, current.column), ...besides(below, current.column)],
  };
}

/** Returns the names of the steps that contain a column, from the root. */
function pathTo(steps: readonly Step[], column: number): string[] {
  const path: string[] = [];
  let limit = column;
  for (const step of steps.toReversed()) {
    // A list may begin in the column of its field.
    const holdsItem = path[0] === '-' && step.name !== '-' && step.column === limit;
    if (step.column >= limit && !holdsItem) continue;
    path.unshift(step.name);
    limit = step.column;
  }
  return path;
}

/** Returns the fields in a column, as far as the same object reaches. */
function besides(steps: readonly Step[], column: number): string[] {
  const end = steps.findIndex((step) => step.column < column);
  const own = end < 0 ? steps : steps.slice(0, end);
  return own.filter((step) => step.column === column && step.name !== '-').map(({ name }) => name);
}
