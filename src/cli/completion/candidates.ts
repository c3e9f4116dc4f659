/**
 * Candidates for the last word of a command line, from the definitions of the commands themselves: their
 * sub-commands, their flags, and the choices of a flag.
 */
import type { ArgDef, ArgsDef, CommandDef } from 'citty';
import { type AskCluster, clusterCandidates } from './cluster-candidates.ts';
import { filesLine } from './scripts.ts';

// biome-ignore lint/suspicious/noExplicitAny: CommandDef is invariant in its arguments, as in dispatch.ts.
type Command = CommandDef<any>;

export interface CompletedEntry {
  readonly about: string;
  readonly hidden?: true;
  readonly load: () => Promise<Command>;
}

export interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** Position in a command line: the command that the words so far name, and its arguments and flags so far. */
interface Position {
  readonly path: readonly string[];
  readonly command: Command;
  readonly args: ArgsDef;
  readonly positionals: readonly string[];
  /** Flags with their values, as typed. */
  readonly flags: ReadonlyMap<string, string>;
  /** Flag whose value is the next word. */
  readonly awaiting?: string;
}

/** Returns the lines for the shell: a word, and after a tab what it is. */
export async function completionLines(
  table: Readonly<Record<string, CompletedEntry>>,
  words: readonly string[],
  ask: AskCluster,
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? '';
  const found = await candidates(table, words.slice(0, -1), typed, ask);
  if (found === 'files') return [filesLine];
  return found
    .filter(({ word }) => word.startsWith(typed))
    .map(({ word, about }) => (about ? `${word}\t${about.replaceAll(/\s+/g, ' ')}` : word));
}

async function candidates(
  table: Readonly<Record<string, CompletedEntry>>,
  [name, ...rest]: readonly string[],
  typed: string,
  ask: AskCluster,
): Promise<readonly Candidate[] | 'files'> {
  if (name === undefined) return shownCommands(table);
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  if (entry === undefined) return [];
  const position = await walk(await entry.load(), [name], rest);
  const { awaiting, args } = position;
  if (awaiting !== undefined) return valuesOf(args[awaiting], awaiting, position, ask);
  const [, flag, value] = /^--([^=]+)=(.*)$/.exec(typed) ?? [];
  if (flag !== undefined && value !== undefined) {
    const values = await valuesOf(args[flag], flag, position, ask);
    return values === 'files' ? values : values.map(({ word }) => ({ word: `--${flag}=${word}` }));
  }
  return typed.startsWith('-') ? flagsOf(args) : wordsOf(position, typed, ask);
}

const shownCommands = (table: Readonly<Record<string, CompletedEntry>>): readonly Candidate[] =>
  Object.entries(table).flatMap(([word, { about, hidden }]) => (hidden ? [] : [{ word, about }]));

/** Returns the sub-commands, or else the kinds and names that the command's words can be. */
async function wordsOf(position: Position, typed: string, ask: AskCluster): Promise<readonly Candidate[]> {
  const { path, positionals, flags, command } = position;
  const inner = positionals.length > 0 ? [] : await subCommandsOf(command);
  return inner.length > 0 ? inner : clusterCandidates({ path, positionals, flags, typed }, ask);
}

/** Follows the words through the sub-commands and flags. */
async function walk(start: Command, path: readonly string[], words: readonly string[]): Promise<Position> {
  let position: Position = {
    path,
    command: start,
    args: (await resolve(start.args)) ?? {},
    positionals: [],
    flags: new Map(),
  };
  for (const word of words) position = await step(position, word);
  return position;
}

async function step({ awaiting, ...position }: Position, word: string): Promise<Position> {
  const { args, flags, positionals, command } = position;
  if (awaiting !== undefined) return { ...position, flags: new Map([...flags, [awaiting, word]]) };
  if (word.startsWith('-')) return withFlag(position, word);
  const inner = positionals.length === 0 ? await subCommandNamed(command, word) : undefined;
  if (inner === undefined) return { ...position, positionals: [...positionals, word] };
  const more = (await resolve(inner.args)) ?? {};
  return { ...position, path: [...position.path, word], command: inner, args: { ...args, ...more } };
}

function withFlag(position: Position, word: string): Position {
  const [, typed = '', value] = /^--?([^=]+)(?:=(.*))?$/.exec(word) ?? [];
  const name = flagNamed(position.args, typed);
  if (name === undefined || !takesValue(position.args[name])) return position;
  if (value === undefined) return { ...position, awaiting: name };
  return { ...position, flags: new Map([...position.flags, [name, value]]) };
}

async function subCommandNamed(command: Command, name: string): Promise<Command | undefined> {
  const all = (await resolve(command.subCommands)) ?? {};
  return Object.hasOwn(all, name) ? resolve(all[name] as Command) : undefined;
}

async function subCommandsOf(command: Command): Promise<readonly Candidate[]> {
  const all = Object.entries((await resolve(command.subCommands)) ?? {});
  const about = async (load: unknown) => (await resolve((await resolve(load as Command)).meta))?.description;
  return Promise.all(all.map(async ([word, load]) => ({ word, about: (await about(load)) ?? '' })));
}

const aliasesOf = (definition: ArgDef): string[] =>
  'alias' in definition ? [definition.alias ?? []].flat() : [];

const flagNamed = (args: ArgsDef, typed: string): string | undefined =>
  Object.entries(args).find(
    ([name, arg]) => arg.type !== 'positional' && (name === typed || aliasesOf(arg).includes(typed)),
  )?.[0];

const takesValue = (arg: ArgDef | undefined) => arg?.type === 'string' || arg?.type === 'enum';

const flagsOf = (args: ArgsDef): readonly Candidate[] => [
  ...Object.entries(args).flatMap(([name, arg]) =>
    arg.type === 'positional' ? [] : [{ word: `--${name}`, about: arg.description ?? '' }],
  ),
  { word: '--help', about: 'print the help' },
];

/** Placeholders of values that are names of files or directories. */
const fileHints = /FILE|DIR|PATH/;

/** Values that the definition of a flag names. */
interface ValuesOfFlag {
  readonly choices?: readonly string[];
  readonly valueHint?: string;
  /** Suggested values; the flag accepts other values too. */
  readonly values?: readonly string[];
}

/** Returns the values of a flag: its choices, names of the cluster, or files. */
async function valuesOf(
  arg: ArgDef | undefined,
  name: string,
  position: Position,
  ask: AskCluster,
): Promise<readonly Candidate[] | 'files'> {
  const { choices, valueHint = '', values = [] } = (arg ?? {}) as ValuesOfFlag;
  const found = choices ?? (/^[\w-]+(\|[\w-]+)+$/.test(valueHint) ? valueHint.split('|') : values);
  if (found.length > 0) return found.map((word) => ({ word }));
  if (fileHints.test(valueHint)) return 'files';
  if (name !== 'namespace' || position.path[0] !== 'ctl') return [];
  const typed = { path: ['ctl', 'get'], positionals: ['namespaces'], flags: position.flags, typed: '' };
  return clusterCandidates(typed, ask);
}

function resolve<T>(value: T | Promise<T> | (() => T) | (() => Promise<T>)): Promise<T> {
  return Promise.resolve(typeof value === 'function' ? (value as () => T | Promise<T>)() : value);
}
