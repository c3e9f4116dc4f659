/**
 * Runs one command for the arguments and returns one exit status: 0 for success, 1 for failure, 2 for bad
 * usage (1 where a command behaves like kubectl, which has no 2). citty accepts any arguments, so they are
 * checked against the command's definition first: a misspelt flag is rejected, never ignored.
 */
import { type ArgsDef, runCommand } from 'citty';
import { errorMessage } from './base/log.ts';
import { UsageError } from './base/usage-error.ts';
import { checkArguments, nameFirst, plainFlags, takesPositionals } from './command-arguments.ts';
import { type Command, type CommandHints, commandPage, overviewPage, resolve } from './command-page.ts';
import { nearest } from './terminal/nearest.ts';
import { sameMeaning } from './terminal/same-meaning.ts';

export interface Entry {
  readonly about: string;
  /** Makes bad usage end with 1, and a group of commands that is called without a command print its help. */
  readonly like?: 'kubectl';
  /** True for a command that programs call: neither the help nor advice names it. */
  readonly hidden?: true;
  readonly load: () => Promise<Command>;
}

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/**
 * Runs the command of the table that `argv` names; never throws. A command may set process.exitCode for a
 * status of its own. `otherWords` has advice for words that are commands of other programs only.
 */
export async function dispatch(
  table: Readonly<Record<string, Entry>>,
  argv: readonly string[],
  output: Output,
  otherWords: Readonly<Record<string, string>> = {},
): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'help' && rest.length > 0) return dispatch(table, [...rest, '--help'], output, otherWords);
  if (name === undefined || helpWords.has(name)) {
    output.out(overviewPage(shownEntries(table)));
    return name === undefined ? 2 : 0;
  }
  try {
    return await runEntry(table, name, rest, output, otherWords);
  } catch (error) {
    output.err(`error: ${errorMessage(error)}\n`);
    return isUsageError(error) && ownValue(table, name)?.like === undefined ? 2 : 1;
  }
}

/** Runs the command of that name. Throws UsageError, with advice, if there is none. */
async function runEntry(
  table: Readonly<Record<string, Entry>>,
  name: string,
  argv: readonly string[],
  output: Output,
  otherWords: Readonly<Record<string, string>>,
): Promise<number> {
  const entry = ownValue(table, name);
  if (entry === undefined) {
    const elsewhere = ownValue(otherWords, name) ?? (await groupWith(table, name, argv));
    throw new UsageError(unknownCommand('minik8s', name, Object.keys(shownEntries(table)), elsewhere));
  }
  const { load, like } = entry;
  const command = await load();
  const hints = command as CommandHints;
  const { renamed = (text: string) => text, expanded = async (words) => words } = hints;
  const named = { out: (text: string) => output.out(renamed(text)), err: output.err };
  try {
    const words = await expanded(argv);
    return await run({ path: `minik8s ${name}`, command, argv: words, like, depth: 1 }, named);
  } catch (error) {
    const told = withOtherLine(error, hints.adviceOnLine?.(argv));
    if (told instanceof Error) told.message = renamed(told.message);
    const status = isUsageError(told) ? await hints.usageStatus?.(argv) : undefined;
    if (status === undefined) throw told;
    output.err(`error: ${errorMessage(told)}\n`);
    return status;
  }
}

/** Returns the error; a wrong command line gets the line to type instead, if there is one. */
function withOtherLine(error: unknown, line: string | undefined): unknown {
  if (line === undefined || !isUsageError(error)) return error;
  return new UsageError(`${errorMessage(error)}; type instead: ${line}`);
}

const helpWords: ReadonlySet<string> = new Set(['help', '--help', '-h']);

const shownEntries = (table: Readonly<Record<string, Entry>>): Readonly<Record<string, Entry>> =>
  Object.fromEntries(Object.entries(table).filter(([, { hidden }]) => !hidden));

const ownValue = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Returns advice for a word that is, or resembles, a command of the client, such as `get`. */
async function groupWith(
  table: Readonly<Record<string, Entry>>,
  name: string,
  rest: readonly string[],
): Promise<string | undefined> {
  const isNearer = nearest(name, Object.keys(table)).length > 0;
  for (const [group, { like, load }] of Object.entries(table)) {
    if (like !== 'kubectl') continue;
    const advice = await adviceOfGroup(group, await load(), [name, ...rest], isNearer);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/**
 * Returns a group's advice for words. If the first word resembles a command outside the group (`isNearer`),
 * only a command of exactly this name is advised.
 */
async function adviceOfGroup(
  group: string,
  command: Command,
  [name = '', ...rest]: readonly string[],
  isNearer: boolean,
): Promise<string | undefined> {
  const subCommands = (await resolve(command.subCommands)) ?? {};
  const isKnown = Object.hasOwn(subCommands, name);
  const advice = isKnown ? undefined : await (command as CommandHints).adviceOnWord?.(name, rest);
  if (advice !== undefined) return advice;
  const meant = isNearer && !isKnown ? [] : await meantCommands(subCommands, name);
  if (meant.length === 0) return undefined;
  return didYouMean(meant.map((one) => `minik8s ${[group, one, ...rest].join(' ')}`));
}

/**
 * Returns the command of this name; else the commands with this second word; else the commands with similar
 * names.
 */
async function meantCommands(subCommands: SubCommands, name: string): Promise<readonly string[]> {
  if (Object.hasOwn(subCommands, name)) return [name];
  const found = await below(subCommands, name);
  return found.length > 0 ? found : nearest(name, Object.keys(subCommands));
}

const didYouMean = (commands: readonly string[]) => `did you mean ${commands.join(' or ')}?`;

/** Maximum number of commands that an error suggests. */
const maxSuggestions = 3;

/** Returns the commands two words long whose second word is `name`, such as `rollout status`. */
async function below(subCommands: SubCommands, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const [group, load] of Object.entries(subCommands)) {
    const inner = (await resolve((await resolve(load)).subCommands)) ?? {};
    if (Object.hasOwn(inner, name)) found.push(`${group} ${name}`);
  }
  return found.slice(0, maxSuggestions);
}

interface Invocation {
  /** The words typed so far, such as `minik8s token`. */
  readonly path: string;
  readonly command: Command;
  readonly argv: readonly string[];
  /** Number of words of the path after `minik8s`. */
  readonly depth: number;
  readonly like: Entry['like'];
}

async function run(invocation: Invocation, output: Output): Promise<number> {
  const { command } = invocation;
  const args: ArgsDef = (await resolve(command.args)) ?? {};
  const subCommands = await resolve(command.subCommands);
  if (subCommands === undefined) return runItself(invocation, args, [], output);
  const ended = await runPlugin(invocation, subCommands);
  if (ended !== undefined) return ended;
  const ordered = { ...invocation, argv: nameFirst(args, invocation.argv) };
  const inner = await innerCommand(ordered, subCommands);
  if (inner === undefined) {
    // The order of the words as typed decides which one is reported.
    return runItself(invocation, args, Object.keys(subCommands), output);
  }
  return inner === 'help' ? usage(invocation, output) : run(inner, output);
}

/** Runs the plugin that the words name, unless a command of the group has this name. */
async function runPlugin(
  { command, argv }: Invocation,
  subCommands: SubCommands,
): Promise<number | undefined> {
  const [name = '-'] = argv;
  if (name.startsWith('-') || name === 'help' || Object.hasOwn(subCommands, name)) return undefined;
  return (command as CommandHints).runPlugin?.(argv);
}

/** Runs a command whose first word is none of its sub-commands' `names`. */
async function runItself(
  invocation: Invocation,
  args: ArgsDef,
  names: readonly string[],
  output: Output,
): Promise<number> {
  const { path, command } = invocation;
  if (command.run === undefined) return unnamed(invocation, { args, names }, output);
  const argv = plainFlags(args, invocation.argv);
  const { elsewhere } = command as CommandHints;
  if (checkArguments(path, args, argv, elsewhere).help) return usage(invocation, output);
  await runCommand({ ...command, subCommands: undefined }, { rawArgs: [...argv] });
  return typeof process.exitCode === 'number' ? process.exitCode : 0;
}

type SubCommands = Readonly<Record<string, Command | Promise<Command> | (() => Command | Promise<Command>)>>;

/**
 * Returns the command that the first word names, or `help` if the word asks for help; undefined otherwise.
 */
async function innerCommand(
  { path, command, argv, depth, ...rest }: Invocation,
  subCommands: SubCommands,
): Promise<Invocation | 'help' | undefined> {
  const [name, ...more] = argv;
  if (name === undefined || name.startsWith('-'))
    return name !== undefined && helpWords.has(name) ? 'help' : undefined;
  const found = await resolve(ownValue(subCommands, name));
  if (found !== undefined)
    return { ...rest, path: `${path} ${name}`, command: found, argv: more, depth: depth + 1 };
  if (name === 'help')
    return more.length === 0 ? 'help' : { ...rest, path, command, depth, argv: [...more, '--help'] };
  if (await checksWords(command)) return undefined;
  const advice = await adviceOnUnknown({ path, command, argv }, subCommands);
  throw new UsageError(unknownCommand(path, name, knownNames(command, subCommands), advice));
}

const knownNames = (command: Command, subCommands: SubCommands) => [
  ...Object.keys(subCommands),
  ...((command as CommandHints).pluginNames?.() ?? []),
];

/** Resolves to true for a command that can run without a sub-command, and so checks its words itself. */
const checksWords = async ({ run, args }: Command): Promise<boolean> =>
  run !== undefined || takesPositionals((await resolve(args)) ?? {});

/** Returns advice for a first word that is no sub-command. */
async function adviceOnUnknown(
  { path, command, argv: [name = '', ...more] }: Pick<Invocation, 'path' | 'command' | 'argv'>,
  subCommands: SubCommands,
): Promise<string | undefined> {
  const hints = command as CommandHints;
  return (
    hints.elsewhere?.(name) ??
    (await hints.adviceOnWord?.(name, more)) ??
    longerCommands(path, subCommands, name, more)
  );
}

/** Returns advice for a word that resembles no command, but is the second word of longer commands. */
async function longerCommands(
  path: string,
  subCommands: SubCommands,
  name: string,
  rest: readonly string[],
): Promise<string | undefined> {
  if (nearest(name, Object.keys(subCommands)).length > 0) return undefined;
  const commands = await below(subCommands, name);
  return commands.length > 0 ? didYouMean(commands.map((one) => [path, one, ...rest].join(' '))) : undefined;
}

/** Handles a group of commands that was called without a command. */
async function unnamed(
  invocation: Invocation,
  { args, names }: { readonly args: ArgsDef; readonly names: readonly string[] },
  output: Output,
): Promise<number> {
  const { path, argv, like, depth } = invocation;
  checkArguments(path, args, argv);
  if (like === undefined) throw new UsageError(`${path}: say which: ${names.join(', ')}`);
  await usage(invocation, output);
  // kubectl exits with 0, kubectl rollout with 1.
  return depth === 1 ? 0 : 1;
}

async function usage({ path, command }: Invocation, output: Output): Promise<number> {
  output.out(await commandPage(path, command));
  return 0;
}

/** Maximum number of commands that an error lists in one line. */
const fewCommands = 12;

function unknownCommand(path: string, name: string, known: readonly string[], elsewhere?: string): string {
  const what = `${path}: unknown ${name.startsWith('-') ? 'flag' : 'command'} ${name}`;
  if (elsewhere !== undefined) return `${what}: ${elsewhere}`;
  const meant = nearest(name, known);
  if (meant.length > 0) return `${what}: ${didYouMean(meant)}`;
  const alike = sameMeaning(name, known);
  if (alike !== undefined) return `${what}: ${didYouMean([`${path} ${alike}`])}`;
  return known.length <= fewCommands ? `${what}; known: ${known.join(', ')}` : `${what}; see ${path} --help`;
}

/**
 * Returns true for errors of citty too: a missing required flag, a value outside the flag's list. Errors are
 * recognized by name, because the application is bundled separately and has a class of its own.
 */
function isUsageError(error: unknown): boolean {
  return error instanceof Error && (error.name === 'UsageError' || error.name === 'CLIError');
}
