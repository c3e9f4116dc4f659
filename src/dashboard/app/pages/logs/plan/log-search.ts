/** Search in lines of logs: a text, `/REGEX/`, or either after `!` for the lines without it. Pure. */

export interface LogSearch {
  /** Returns whether a line is shown. */
  matches(text: string): boolean;
  /** Returns the places to mark, each from its start to before its end. */
  spans(text: string): readonly (readonly [start: number, end: number])[];
}

/** Maximum number of places that are marked in a line. */
const maxSpans = 50;

const everything: LogSearch = { matches: () => true, spans: () => [] };

/**
 * Returns the search, or why the text is not one. Upper and lower case differ only for a text with capitals.
 */
export function logSearch(text: string): LogSearch | { readonly fault: string } {
  const isInverted = text.startsWith('!') && text.length > 1;
  const wanted = isInverted ? text.slice(1) : text;
  if (wanted === '') return everything;
  const flags = /\p{Lu}/u.test(wanted) ? 'gu' : 'giu';
  const [, regex] = /^\/(.+)\/$/s.exec(wanted) ?? [];
  let form: RegExp;
  try {
    form = new RegExp(regex ?? RegExp.escape(wanted), flags);
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  const matches = (line: string) => {
    form.lastIndex = 0;
    return form.test(line);
  };
  if (isInverted) return { matches: (line) => !matches(line), spans: () => [] };
  return { matches, spans: (line) => spansOf(line, form) };
}

function spansOf(line: string, form: RegExp): [number, number][] {
  const spans: [number, number][] = [];
  form.lastIndex = 0;
  for (const found of line.matchAll(form)) {
    if (found[0] === '') continue;
    spans.push([found.index, found.index + found[0].length]);
    if (spans.length === maxSpans) break;
  }
  return spans;
}
