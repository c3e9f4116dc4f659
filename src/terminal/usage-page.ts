/**
 * The page that --help prints: the purpose of a command, examples, its usage, its commands by group and its
 * flags by subject.
 */

export interface UsagePage {
  /** Full command, such as `minik8s ctl get`. */
  readonly path: string;
  readonly about: string;
  /** Other names of the command. */
  readonly aliases: readonly string[];
  /** Command lines, each followed by ` # ` and its purpose. */
  readonly examples: readonly string[];
  /** Forms of the command's arguments, such as `TYPE [NAME...]`; empty if it has no arguments. */
  readonly forms: readonly string[];
  readonly commands: readonly UsageCommand[];
  readonly flags: readonly UsageFlag[];
  /** Sentences at the end of the page, such as the command that lists further flags. */
  readonly notes: readonly string[];
}

export interface UsageCommand {
  readonly name: string;
  readonly about: string;
  /** Heading under which the command is listed. */
  readonly group: string;
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
/** Maximum width of a command name or flag; the description of a longer one begins on the next line. */
const maxTermLength = 34;

export function usagePage({ path, about, commands, flags, ...page }: UsagePage): string {
  const sections = [
    ...wrap(sentence(about), pageWidth),
    ...exampleLines(page.examples),
    '',
    ...usageLines(path, page.forms, commands.length > 0, flags.length > 0),
    ...(page.aliases.length > 0 ? ['', `Aliases: ${page.aliases.join(', ')}`] : []),
    ...sectionsOf(commands, (command) => [command.name, command.about]),
    ...sectionsOf(flags, (flag) => [flagTerm(flag), flagAbout(flag)]),
    ...(page.notes.length > 0 ? ['', ...page.notes.flatMap((note) => wrap(note, pageWidth))] : []),
  ];
  return `${sections.join('\n')}\n`;
}

/** Returns the examples: the purpose of each as a comment, and its command below. */
function exampleLines(examples: readonly string[]): string[] {
  if (examples.length === 0) return [];
  const lines = examples.flatMap((example) => {
    const { line, purpose } = exampleParts(example);
    const comment = purpose === '' ? [] : wrap(capitalized(purpose), pageWidth - 4);
    return [...comment.map((text) => `  # ${text}`), `  ${line}`];
  });
  return ['', 'Examples:', ...lines];
}

/** Splits an example into its command line and its purpose; the latter may be empty. */
export function exampleParts(example: string): { readonly line: string; readonly purpose: string } {
  const at = example.lastIndexOf(' # ');
  return at < 0
    ? { line: example, purpose: '' }
    : { line: example.slice(0, at).trimEnd(), purpose: example.slice(at + 3) };
}

function usageLines(
  path: string,
  forms: readonly string[],
  hasCommands: boolean,
  hasFlags: boolean,
): string[] {
  const tail = hasFlags ? ' [FLAGS]' : '';
  const all = [...(hasCommands ? ['COMMAND'] : []), ...forms];
  const lines = (all.length > 0 ? all : ['']).map((form) => `${path}${form && ` ${form}`}`);
  // Inserts [FLAGS] before ` --`, because what follows is the command of a container.
  const whole = lines.map((line) => line.replace(/( \[?-- |$)/, `${tail}$1`));
  const indent = ' '.repeat('Usage: '.length);
  return whole.flatMap((line, index) => {
    const [first = '', ...more] = wrap(line, pageWidth - 2 * indent.length);
    return [`${index === 0 ? 'Usage: ' : indent}${first}`, ...more.map((text) => indent + indent + text)];
  });
}

/** Returns a section for each group. The groups are in the order in which they first occur. */
function sectionsOf<T extends { readonly group: string }>(
  members: readonly T[],
  entry: (member: T) => readonly [term: string, about: string],
): string[] {
  return Map.groupBy(members, ({ group }) => group)
    .entries()
    .flatMap(([group, some]) => section(group, some.map(entry)))
    .toArray();
}

function section(title: string, entries: readonly (readonly [term: string, about: string])[]): string[] {
  if (entries.length === 0) return [];
  const terms = entries.map(([term]) => term.length).filter((length) => length <= maxTermLength);
  // If all terms are too long, the descriptions are still indented by more columns than the terms.
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

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const sentence = (text: string) => `${capitalized(text)}${/[.!?…]$/.test(text) ? '' : '.'}`;

/**
 * Returns lines of at most `width` characters, broken at spaces. A word that is longer than `width` is also
 * broken after commas; a piece without commas may exceed the width.
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
