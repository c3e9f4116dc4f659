/**
 * The page that --help prints: the purpose of a command, its usage, its commands and its flags by subject.
 */

export interface UsagePage {
  /** Full command, such as `minik8s ctl get`. */
  readonly path: string;
  readonly about: string;
  /** Placeholders of its arguments, such as `TYPE NAME`; empty for none. */
  readonly words: string;
  readonly commands: readonly UsageCommand[];
  readonly flags: readonly UsageFlag[];
}

export interface UsageCommand {
  readonly name: string;
  readonly about: string;
}

export interface UsageFlag {
  readonly name: string;
  readonly short?: string | undefined;
  /** Placeholder of the flag's value, such as `FILE`; absent for a boolean flag. */
  readonly hint?: string | undefined;
  readonly about: string;
  /** Default value. */
  readonly usual?: string | undefined;
  /** Heading under which the flag is listed. */
  readonly group: string;
}

/** Width of a page in columns. */
const pageWidth = 100;
/** Maximum width of a term; the description of a longer one is on the next line. */
const maxTermLength = 34;

export function usagePage({ path, about, words, commands, flags }: UsagePage): string {
  const commandWord = commands.length > 0 ? ' COMMAND' : '';
  const usage = `Usage: ${path}${commandWord}${words && ` ${words}`}${flags.length > 0 ? ' [FLAGS]' : ''}`;
  const sections = [
    ...wrap(sentence(about), pageWidth),
    '',
    usage,
    ...section(
      'Commands',
      commands.map((command) => [command.name, command.about]),
    ),
    ...Map.groupBy(flags, ({ group }) => group)
      .entries()
      .flatMap(([group, members]) =>
        section(
          group,
          members.map((flag) => [flagTerm(flag), flagAbout(flag)]),
        ),
      ),
    ...(commands.length > 0 ? ['', `${path} COMMAND --help describes a command.`] : []),
  ];
  return `${sections.join('\n')}\n`;
}

function section(title: string, entries: readonly (readonly [term: string, about: string])[]): string[] {
  if (entries.length === 0) return [];
  const terms = entries.map(([term]) => term.length).filter((length) => length <= maxTermLength);
  // If all terms are too long, descriptions are still indented more than any term.
  const column = Math.max(...terms, 4) + 4;
  const lines = entries.flatMap(([term, about]) => {
    const [first = '', ...more] = wrap(about, pageWidth - column);
    const head = `  ${term}`;
    const beside = head.length + 2 <= column;
    return [
      beside ? `${head.padEnd(column)}${first}` : head,
      ...(beside ? more : [first, ...more]).map((line) => ' '.repeat(column) + line),
    ];
  });
  return ['', `${title}:`, ...lines];
}

const flagTerm = ({ name, short, hint }: UsageFlag) =>
  `${short ? `-${short}, ` : '    '}--${name}${hint ? ` ${hint}` : ''}`;

const flagAbout = ({ about, usual }: UsageFlag) =>
  usual === undefined ? about : `${about} (default ${usual})`;

const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/**
 * Returns lines of at most `width` characters, broken at spaces; a longer word has its own lines, broken at
 * commas.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  const words = text.split(/\s+/).flatMap((word) => (word.length <= width ? [word] : atCommas(word, width)));
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

function atCommas(word: string, width: number): string[] {
  const pieces: string[] = [];
  for (const piece of word.split(/(?<=,)/)) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + piece.length <= width) pieces[pieces.length - 1] = last + piece;
    else pieces.push(piece);
  }
  return pieces;
}
