/** Color on a terminal: headers, states, errors and warnings. Other outputs get plain text. */
import { styleText } from 'node:util';

export const colorModes = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof colorModes)[number];

export interface Palette {
  readonly header: (text: string) => string;
  /** Formats a cell of a table: words for states are colored. */
  readonly cell: (text: string) => string;
  /** Formats a message for standard error: the first words of an error or a warning are colored. */
  readonly message: (text: string) => string;
}

export const plain: Palette = { header: (text) => text, cell: (text) => text, message: (text) => text };

/**
 * Returns the palette; `auto` uses color on capable terminals, unless NO_COLOR is set to a value
 * (https://no-color.org).
 */
export function paletteFor(
  mode: ColorMode,
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean | undefined,
): Palette {
  const wanted = isTerminal === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return mode === 'always' || (mode === 'auto' && wanted) ? colored : plain;
}

type Style = Parameters<typeof styleText>[0];
const paint = (style: Style, text: string) => styleText(style, text, { validateStream: false });

const colored: Palette = {
  header: (text) => paint('bold', text),
  cell(text) {
    const style = styleOf(text);
    return style === undefined ? text : paint(style, text);
  },
  message: (text) =>
    text
      .replaceAll(/^(?:error:|Error from server[^:\n]*:|The \S+ "[^"\n]*" is invalid:)/gm, (head) =>
        paint('red', head),
      )
      .replaceAll(/^warning:/gim, (head) => paint('yellow', head)),
};

function styleOf(state: string): Style | undefined {
  if (/^(?:Running|Ready|Active|Bound|Available|Succeeded|Completed?|Approved(?:,Issued)?)$/.test(state))
    return 'green';
  if (
    /^(?:[A-Z]\w*(?:Error|BackOff)|Err[A-Z]\w*|Error|Failed|OOMKilled|Evicted|InvalidImageName)$/.test(state)
  )
    return 'red';
  if (/^(?:NotSupported|SysctlForbidden|ContainerCannotRun)$/.test(state)) return 'red';
  if (/^(?:NotReady|Unknown|Denied|Lost|DeadlineExceeded|ContainerStatusUnknown)(?:,|$)/.test(state))
    return 'red';
  if (/^(?:Pending|ContainerCreating|PodInitializing|Terminating|Released|Ready,|Init:)/.test(state))
    return 'yellow';
  return undefined;
}
