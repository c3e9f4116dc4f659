/** Colors that programs write into their logs (ECMA-48 SGR), as parts of a line. Pure. */

export interface LinePart {
  readonly text: string;
  /** Names of CSS classes, such as `ansi-red ansi-bold`; empty for plain text. */
  readonly style: string;
  /** True for a place that the search found. */
  readonly isFound: boolean;
}

const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const [esc, bell] = [27, 7].map((code) => String.fromCharCode(code));
/** Sequences that end by a letter (CSI) or by BEL or ST (OSC), and lone control characters except tabs. */
const control = new RegExp(
  String.raw`${esc}\[([0-?]*)[ -/]*([@-~])|${esc}\][^${bell}${esc}]*(?:${bell}|${esc}\\)?|(?!\t)\p{Cc}`,
  'gu',
);

interface Style {
  readonly color: string;
  readonly isBold: boolean;
}

const plain: Style = { color: '', isBold: false };

/** Returns the text of a line without controls, and its style at each change. */
export function withoutControls(line: string): {
  readonly text: string;
  readonly styles: readonly { readonly from: number; readonly style: string }[];
} {
  const styles: { from: number; style: string }[] = [];
  let text = '';
  let style = plain;
  let end = 0;
  for (const found of line.matchAll(control)) {
    text += line.slice(end, found.index);
    end = found.index + found[0].length;
    if (found[2] !== 'm') continue;
    style = styleAfter(style, found[1] ?? '');
    styles.push({ from: text.length, style: classesOf(style) });
  }
  return { text: text + line.slice(end), styles };
}

function styleAfter(before: Style, codes: string): Style {
  const numbers = codes.split(/[;:]/).map(Number);
  let style = before;
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0;
    // Colors by number or by their parts: 38;5;N and 38;2;R;G;B.
    if (code === 38 || code === 48) i += numbers[i + 1] === 5 ? 2 : 4;
    else style = styleOf(style, code);
  }
  return style;
}

function styleOf(style: Style, code: number): Style {
  if (code === 0) return plain;
  if (code === 1) return { ...style, isBold: true };
  if (code === 22) return { ...style, isBold: false };
  if (code === 39) return { ...style, color: '' };
  const color = colors[code >= 90 ? code - 90 : code - 30];
  return color === undefined ? style : { ...style, color };
}

const classesOf = ({ color, isBold }: Style): string =>
  [color && `ansi-${color}`, isBold && 'ansi-bold'].filter(Boolean).join(' ');

/** Returns the parts of a line, cut where its style changes and where something was found. */
export function lineParts(
  { text, styles }: ReturnType<typeof withoutControls>,
  spans: readonly (readonly [number, number])[],
): readonly LinePart[] {
  const cuts = [0, ...styles.map(({ from }) => from), ...spans.flat(), text.length];
  const places = [...new Set(cuts)].sort((a, b) => a - b);
  return places.slice(0, -1).map((from, i) => ({
    text: text.slice(from, places[i + 1]),
    style: styles.findLast((one) => one.from <= from)?.style ?? '',
    isFound: spans.some(([start, end]) => start <= from && from < end),
  }));
}
