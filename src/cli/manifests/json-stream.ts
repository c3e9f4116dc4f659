/** JSON texts with several values one after another, as kubectl's decoder reads them. Pure. */
import { endOfString } from '../../apimachinery/json-decode.ts';

export interface TextPart {
  readonly text: string;
  /** Line of the file on which the part starts. */
  readonly line: number;
  /** Index of the part in the text that was split. */
  readonly start: number;
}

/**
 * Splits a text, which starts on `line` of its file, after each object and list. A part that begins with
 * anything else, and one whose brackets stay open, reaches to the end of the text; it is invalid JSON.
 */
export function jsonParts(text: string, line: number): TextPart[] {
  const parts: TextPart[] = [];
  let [from, at] = [0, line];
  while (from < text.length) {
    const start = startOfValue(text, from);
    if (start < 0) break;
    at += newlines(text, from, start);
    const end = '{['.includes(text.charAt(start)) ? endOfValue(text, start) : text.length;
    parts.push({ text: text.slice(start, end), line: at, start });
    at += newlines(text, start, end);
    from = end;
  }
  return parts;
}

/** Returns the index of the first character that is no white space; -1 if there is none. */
function startOfValue(text: string, from: number): number {
  const visible = /\S/g;
  visible.lastIndex = from;
  return visible.exec(text)?.index ?? -1;
}

/** Returns the index after the bracket that closes the one at `start`; the length if none does. */
function endOfValue(text: string, start: number): number {
  const structure = /["{}[\]]/g;
  structure.lastIndex = start;
  let depth = 0;
  for (let found = structure.exec(text); found !== null; found = structure.exec(text)) {
    const [mark] = found;
    if (mark === '"') {
      const end = endOfString(text, found.index);
      if (end < 0) break;
      structure.lastIndex = end + 1;
      continue;
    }
    depth += '{['.includes(mark) ? 1 : -1;
    if (depth === 0) return structure.lastIndex;
  }
  return text.length;
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
