/** Advice for YAML that cannot be read because of its indentation. Pure. */

/** Messages about a key in the place of a value; the cause is a line that is indented too far. */
const misplacedKey = /^(?:Nested mappings are not allowed|Implicit keys need to be on a single line)/;
const otherColumn = /^All (?:mapping|collection|sequence) items must start at the same column/;

/**
 * Returns the advice, with a leading semicolon; empty if there is none. `line` counts from 1 in `text`, which
 * begins on line `first` of its file.
 */
export function yamlAdvice(message: string, text: string, line: number, first: number): string {
  if (/^Tabs are not allowed/.test(message)) return '; indent with spaces';
  const named = (one: number) => `line ${one + first - 1}`;
  if (otherColumn.test(message))
    return `; begin ${named(line)} in the same column as the other items of its mapping or list`;
  if (!misplacedKey.test(message)) return '';
  const lines = text.split('\n');
  const [own = '', next = ''] = [lines[line - 1], lines[line]];
  return indent(next) > indent(own) && /:\s+\S/.test(own)
    ? `; ${named(line + 1)} is indented further than ${named(line)}, which has a value already`
    : '';
}

const indent = (line: string) => line.length - line.trimStart().length;
