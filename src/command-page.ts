/** The pages that --help prints, from the definitions of the commands. */
import type { ArgDef, ArgsDef, CommandDef } from 'citty';
import { aliasesOf } from './command-arguments.ts';
import { type UsageCommand, type UsageFlag, usagePage } from './terminal/usage-page.ts';

// citty's type for a command whose arguments are not known yet.
// biome-ignore lint/suspicious/noExplicitAny: CommandDef is invariant in its arguments; citty uses any here too.
export type Command = CommandDef<any>;

/** Properties that a command may have beyond citty's, for its help and its errors. */
export interface CommandHints {
  /**
   * Returns advice for a command, a word or a flag (with its dashes) that does not exist here but exists
   * elsewhere.
   */
  readonly elsewhere?: (name: string) => string | undefined;
  /** Returns advice for a word that is no command of this group; `rest` are the words after it. */
  readonly adviceOnWord?: (word: string, rest: readonly string[]) => Promise<string | undefined>;
  /** Returns the command line to type instead of one that was wrong, given without the group's name. */
  readonly adviceOnLine?: (argv: readonly string[]) => string | undefined;
  /** Resolves to the exit status of a wrong command line; undefined for the usual one. */
  readonly usageStatus?: (argv: readonly string[]) => Promise<number | undefined>;
  /**
   * Runs a program that adds a command to this group, if one has the name of the first words; resolves to its
   * exit status, or to undefined if there is none.
   */
  readonly runPlugin?: (words: readonly string[]) => Promise<number | undefined>;
  /** Resolves to the arguments with what the user's preferences add, before a command is looked for. */
  readonly expanded?: (argv: readonly string[]) => Promise<readonly string[]>;
  /** Returns a text of the help or an error with the name under which the command was called. */
  readonly renamed?: (text: string) => string;
  /** Returns the names of commands that programs add to this group. */
  readonly pluginNames?: () => readonly string[];
  /** Command lines without `minik8s`, each with its purpose: `ctl get pods # list the pods`. */
  readonly examples?: readonly string[];
  /** Forms of its arguments, for the line `Usage`; absent if the names of its arguments are enough. */
  readonly forms?: readonly string[];
  /** Other names of the command. */
  readonly aliases?: readonly string[];
  /** Name of the command of the same group for which this one is an alias. */
  readonly aliasOf?: string;
  /** Heading under which the group lists this command. */
  readonly group?: string;
  /** Headings of its commands, in their order. */
  readonly groups?: readonly string[];
  /** Sentence at the end of the page. */
  readonly note?: string;
}

/** Properties that a flag may have beyond citty's, for the help. */
export interface FlagHints {
  readonly group?: string;
  readonly usual?: string;
  /** True for a flag that every command has; the page does not list it. */
  readonly common?: true;
}

/** Returns the page of a command; `path` is its full name. */
export async function commandPage(path: string, command: Command): Promise<string> {
  const args: ArgsDef = (await resolve(command.args)) ?? {};
  const { commands, aliases } = await innerCommands(command);
  const words = Object.entries(args).flatMap(([name, { type }]) => (type === 'positional' ? [name] : []));
  const hints = command as CommandHints;
  return usagePage({
    path,
    about: (await resolve(command.meta))?.description ?? '',
    aliases: hints.aliases ?? [],
    examples: (hints.examples ?? []).map(completeLine),
    forms: hints.forms ?? (words.length > 0 ? [words.join(' ')] : []),
    commands: inOrder(commands, hints.groups ?? []).map((one) =>
      withAliases(one, aliases.get(one.name) ?? []),
    ),
    flags: Object.entries(args).flatMap(([name, arg]) => usageFlag(name, arg) ?? []),
    notes: [
      ...(commands.length > 0 ? [`${path} COMMAND --help describes a command.`] : []),
      ...(hints.note === undefined ? [] : [hints.note]),
    ],
  });
}

const inOrder = (commands: readonly UsageCommand[], groups: readonly string[]) =>
  commands.toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));

const withAliases = (command: UsageCommand, aliases: readonly string[]): UsageCommand =>
  aliases.length === 0 ? command : { ...command, about: `${command.about} (aliases: ${aliases.join(', ')})` };

/** Resolves to the commands of a group without aliases, and to the aliases. */
async function innerCommands(command: Command) {
  const commands: UsageCommand[] = [];
  const aliases = new Map<string, string[]>();
  for (const [name, load] of Object.entries((await resolve(command.subCommands)) ?? {})) {
    const inner = await resolve(load as Command | (() => Promise<Command>));
    const { aliasOf, group = 'Commands' } = inner as CommandHints;
    if (aliasOf !== undefined) aliases.set(aliasOf, [...(aliases.get(aliasOf) ?? []), name]);
    else commands.push({ name, about: (await resolve(inner.meta))?.description ?? '', group });
  }
  return { commands, aliases };
}

/** Puts the name of the program in front of a line that does not have it. */
const completeLine = (line: string) =>
  /\bminik8s /.test(line.split(' # ', 1)[0] ?? '') ? line : `minik8s ${line}`;

function usageFlag(name: string, arg: ArgDef): UsageFlag | undefined {
  const { group = 'Flags', usual, common } = arg as FlagHints;
  if (arg.type === 'positional' || common) return undefined;
  const { description: about = '' } = arg;
  const short = aliasesOf(arg).find(({ length }) => length === 1);
  if (arg.type !== 'boolean') return { name, short, about, group, usual, hint: arg.valueHint ?? 'VALUE' };
  return { name, short, about, group, usual: usual ?? (arg.default === true ? 'true' : 'false') };
}

/** Returns the page of the program itself. */
export const overviewPage = (entries: Readonly<Record<string, { readonly about: string }>>): string =>
  usagePage({
    path: 'minik8s',
    about: 'Kubernetes in one file, on the Docker engine you already have.',
    aliases: [],
    examples: overviewExamples.map(completeLine),
    forms: [],
    commands: Object.entries(entries).map(([name, { about }]) => ({ name, about, group: 'Commands' })),
    flags: [],
    notes: ['minik8s COMMAND --help describes a command.'],
  });

const overviewExamples = [
  'up # run a whole cluster on this machine',
  'ctl get pods -A # list the pods of all namespaces',
  'install up # run it as a service that starts at every boot',
];

export function resolve<T>(value: T | Promise<T> | (() => T) | (() => Promise<T>)): Promise<T> {
  return Promise.resolve(typeof value === 'function' ? (value as () => T | Promise<T>)() : value);
}
