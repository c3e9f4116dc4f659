/**
 * Decides which lines of a log are printed, and how. A line without a time and a level, such as one of a
 * stack, belongs to the line before it. Pure.
 */
import { type LogLevel, logLevels } from '../../terminal/log-levels.ts';
import { jsonLine, type LogEvent, textLine } from '../../terminal/log-line.ts';
import { parseLogLine } from '../../terminal/log-parse.ts';

export interface Selection {
  /** Component paths; components below a path are printed too. Empty: all. */
  readonly components: readonly string[];
  /** The least severe level that is printed. */
  readonly level: LogLevel;
  /** Milliseconds since the epoch; older lines are left out. */
  readonly since?: number;
  readonly format: 'text' | 'json';
}

export class LineSelector {
  readonly #selection: Selection;
  readonly #takesAll: boolean;
  /** Decision on the last line with a level. */
  #isWanted: boolean;

  constructor(selection: Selection) {
    this.#selection = selection;
    this.#takesAll = takesAll(selection);
    this.#isWanted = this.#takesAll;
  }

  /** Returns the text to print for the next line, without a line end; undefined if it is left out. */
  take(line: string): string | undefined {
    const isText = this.#selection.format === 'text';
    if (this.#takesAll && isText && !line.startsWith('{')) return line;
    const event = parseLogLine(line);
    if (event !== undefined) this.#isWanted = isSelected(this.#selection, event);
    if (!this.#isWanted) return undefined;
    return isText ? asText(line, event) : asJson(line, event);
  }
}

const asText = (line: string, event: LogEvent | undefined): string =>
  event !== undefined && line.startsWith('{') ? textLine(event) : line;

/** Returns undefined for an empty line. */
function asJson(line: string, event: LogEvent | undefined): string | undefined {
  if (event !== undefined) return jsonLine(event);
  return line === '' ? undefined : JSON.stringify({ msg: line });
}

/** Returns true for a line with a level that is printed, and for every line if all are. */
export function isSelectedLine(selection: Selection, line: string): boolean {
  if (takesAll(selection)) return true;
  const event = parseLogLine(line);
  return event !== undefined && isSelected(selection, event);
}

const isSelected = ({ since, level, components }: Selection, event: LogEvent): boolean =>
  (since === undefined || event.at.getTime() >= since) &&
  logLevels.indexOf(event.level) <= logLevels.indexOf(level) &&
  (components.length === 0 || components.some((path) => isWithin(event.component, path)));

const takesAll = ({ components, level, since }: Selection): boolean =>
  components.length === 0 && level === 'debug' && since === undefined;

/** Returns true for the component and those below it: `kubelet/informer` is within `kubelet`. */
const isWithin = (component: string, path: string): boolean =>
  component === path || component.startsWith(`${path}/`);
