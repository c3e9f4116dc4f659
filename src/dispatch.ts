/**
 * From arguments to one command run and one exit status: 0 done, 1 failed, 2 bad usage. citty accepts whatever it
 * is given, so the arguments are first held against the command's own definition here: a misspelt flag is refused,
 * never ignored.
 */
import { type ParseArgsOptionsConfig, parseArgs, stripVTControlCharacters } from 'node:util';
import { type ArgsDef, type CommandDef, renderUsage, runCommand } from 'citty';
import { errorMessage } from './base/log.ts';
import { UsageError } from './base/usage-error.ts';

// citty's own name for a command whose arguments are not known yet.
// biome-ignore lint/suspicious/noExplicitAny: CommandDef is invariant in its arguments; citty uses any here too.
export type Command = CommandDef<any>;

export interface Entry {
  readonly about: string;
  readonly load: () => Promise<Command>;
}

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** Runs what `argv` names in the table; never throws. A command may set process.exitCode for a status of its own. */
export async function dispatch(
  table: Readonly<Record<string, Entry>>,
  argv: readonly string[],
  output: Output,
): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    output.out(overview(table));
    return name === undefined ? 2 : 0;
  }
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  try {
    if (entry === undefined) throw new UsageError(unknown('minik8s', name, Object.keys(table)));
    return await run({ path: `minik8s ${name}`, command: await entry.load(), argv: rest }, output);
  } catch (error) {
    output.err(`error: ${errorMessage(error)}\n`);
    return isUsageError(error) ? 2 : 1;
  }
}

interface Invocation {
  /** The words typed so far, such as `minik8s token`. */
  readonly path: string;
  readonly command: Command;
  readonly argv: readonly string[];
}

async function run(invocation: Invocation, output: Output): Promise<number> {
  const { path, command } = invocation;
  const subCommands = await resolve(command.subCommands);
  const args: ArgsDef = (await resolve(command.args)) ?? {};
  const argv = subCommands ? nameFirst(args, invocation.argv) : plainBooleans(args, invocation.argv);
  const [name, ...rest] = argv;
  if (subCommands !== undefined && (name === '--help' || name === '-h')) return usage(path, command, output);
  if (subCommands !== undefined && name !== undefined && !name.startsWith('-')) {
    const found = Object.hasOwn(subCommands, name) ? await resolve(subCommands[name]) : undefined;
    if (found !== undefined) return run({ path: `${path} ${name}`, command: found, argv: rest }, output);
    if (!takesPositionals(args)) {
      throw new UsageError(unknown(path, name, Object.keys(subCommands)));
    }
  }
  if (command.run === undefined) {
    const names = Object.keys(subCommands ?? {}).join(', ');
    throw new UsageError(`${path}: say which: ${names}`);
  }
  if (checkArguments(path, args, argv).help) {
    return usage(path, command, output);
  }
  await runCommand({ ...command, subCommands: undefined }, { rawArgs: [...argv] });
  return typeof process.exitCode === 'number' ? process.exitCode : 0;
}

/** `--wait=false` is `--no-wait`, and `--wait=true` is `--wait`. */
function plainBooleans(args: ArgsDef, argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    const [, name = '', value] = /^--([^=]+)=(true|false)$/.exec(word) ?? [];
    const isBoolean = Object.hasOwn(args, name) && args[name]?.type === 'boolean';
    if (!isBoolean || (end >= 0 && index > end)) return word;
    return value === 'true' ? `--${name}` : `--no-${name}`;
  });
}

/** Flags that stand before the name of a sub-command are moved behind it: `ctl -n web get` is `ctl get -n web`. */
function nameFirst(args: ArgsDef, argv: readonly string[]): readonly string[] {
  if (!argv[0]?.startsWith('-') || Object.keys(args).length === 0) return argv;
  const { tokens } = parseArgs({
    args: [...argv],
    options: optionsOf(args),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const at = tokens.find(({ kind }) => kind === 'positional')?.index;
  return at === undefined ? argv : [...argv.slice(at, at + 1), ...argv.slice(0, at), ...argv.slice(at + 1)];
}

function optionsOf(args: ArgsDef): ParseArgsOptionsConfig {
  const options: ParseArgsOptionsConfig = {};
  for (const [name, definition] of Object.entries(args)) {
    if (definition.type === 'positional') continue;
    const type = definition.type === 'string' || definition.type === 'enum' ? 'string' : 'boolean';
    const aliases = 'alias' in definition ? [definition.alias ?? []].flat() : [];
    for (const spelling of aliases.filter(({ length }) => length > 1)) {
      options[spelling] = { type, multiple: true };
    }
    const short = aliases.find(({ length }) => length === 1);
    options[name] = { type, multiple: true, ...(short === undefined ? {} : { short }) };
  }
  return options;
}

/** Throws UsageError for a flag the command does not have, or one that lacks its value or has one too many. */
export function checkArguments(path: string, args: ArgsDef, argv: readonly string[]): { help: boolean } {
  const options = optionsOf(args);
  const helpIsShort = !Object.values(options).some(({ short }) => short === 'h');
  options.help = { type: 'boolean', ...(helpIsShort ? { short: 'h' } : {}) };
  try {
    const { values } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: takesPositionals(args),
      allowNegative: true,
    });
    return { help: values.help === true };
  } catch (error) {
    throw new UsageError(`${path}: ${firstSentence(errorMessage(error))}; see ${path} --help`);
  }
}

/** Commands that take any number of words declare the first one. */
function takesPositionals(args: ArgsDef): boolean {
  return Object.values(args).some(({ type }) => type === 'positional');
}

async function usage(path: string, command: Command, output: Output): Promise<number> {
  const meta = { description: '', ...(await resolve(command.meta)), name: path };
  output.out(`${stripVTControlCharacters(await renderUsage({ ...command, meta }))}\n`);
  return 0;
}

function overview(table: Readonly<Record<string, Entry>>): string {
  const width = Math.max(...Object.keys(table).map(({ length }) => length));
  const lines = Object.entries(table).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}\n`);
  return `Kubernetes in one file, on the Docker engine you already have.\n\nusage: minik8s COMMAND [FLAGS]\n\n${lines.join('')}\nminik8s COMMAND --help says more about each.\n`;
}

function unknown(path: string, name: string, known: readonly string[]): string {
  return `${path}: unknown ${name.startsWith('-') ? 'flag' : 'command'} ${name}; known: ${known.join(', ')}`;
}

function firstSentence(message: string): string {
  const [sentence = message] = message.split('. ', 1);
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/**
 * Also what citty throws: a missing required flag, a value outside the flag's list. Told by name, as the application is
 * bundled apart from this and has a class of its own.
 */
function isUsageError(error: unknown): boolean {
  return error instanceof Error && (error.name === 'UsageError' || error.name === 'CLIError');
}

function resolve<T>(value: T | Promise<T> | (() => T) | (() => Promise<T>)): Promise<T> {
  return Promise.resolve(typeof value === 'function' ? (value as () => T | Promise<T>)() : value);
}
