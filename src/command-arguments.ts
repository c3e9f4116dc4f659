/** Arguments of a command: their forms, and their check against the command's definition. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { ArgDef, ArgsDef } from 'citty';
import { booleanOf } from './base/go-boolean.ts';
import { errorMessage } from './base/log.ts';
import { UsageError } from './base/usage-error.ts';
import { nearest } from './terminal/nearest.ts';

/** Returns advice for a word or a flag that does not exist here but exists elsewhere. */
type Elsewhere = (name: string) => string | undefined;

/** Returns the arguments in the forms that parseArgs and citty read. */
export const plainFlags = (args: ArgsDef, argv: readonly string[]) =>
  plainBooleans(args, withNegativeNumbers(args, withBareValues(args, argv)));

/**
 * Gives a flag that may be written without a value its value: `--dry-run -o yaml` becomes
 * `--dry-run=client -o yaml`. Of a flag that may be, the next word is its value only if it is a known one.
 */
function withBareValues(args: ArgsDef, argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    const name = /^--([^=]+)$/.exec(word)?.[1];
    if (name === undefined || !Object.hasOwn(args, name) || (end >= 0 && index > end)) return word;
    const { bare, values = [] } = args[name] as { bare?: string; values?: readonly string[] };
    return bare === undefined || values.includes(argv[index + 1] ?? '') ? word : `${word}=${bare}`;
  });
}

/** Turns `--replicas -1` into `--replicas=-1`: parseArgs reads any word with a leading dash as a flag. */
function withNegativeNumbers(args: ArgsDef, argv: readonly string[]): string[] {
  const options = optionsOf(args);
  const joined: string[] = [];
  for (const [index, word] of argv.entries()) {
    if (word === '--') return [...joined, ...argv.slice(index)];
    const flag = /^--([^=]+)$/.exec(joined.at(-1) ?? '')?.[1];
    const takesValue = flag !== undefined && Object.hasOwn(options, flag) && options[flag]?.type === 'string';
    if (takesValue && /^-\d/.test(word)) joined.push(`${joined.pop()}=${word}`);
    else joined.push(word);
  }
  return joined;
}

/** Turns `--wait=false` and `-w=0` into `--no-wait`, and `--wait=true` into `--wait`. */
function plainBooleans(args: ArgsDef, argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  const longNames = longNamesOf(args);
  return argv.flatMap((word, index) => {
    const [, dashes, names = '', text = ''] = /^(--?)([^=-][^=]*)=(\w+)$/.exec(word) ?? [];
    const value = booleanOf(text);
    if (value === undefined || (end >= 0 && index > end)) return [word];
    const given = dashes === '--' ? [names] : [...names].map((letter) => longNames[letter] ?? '');
    if (!given.every((name) => Object.hasOwn(args, name) && args[name]?.type === 'boolean')) return [word];
    return given.map((name, at) => (value || at < given.length - 1 ? `--${name}` : `--no-${name}`));
  });
}

/** Returns the long name of each flag by its letter. */
function longNamesOf(args: ArgsDef): Readonly<Record<string, string>> {
  const letters = Object.entries(args).flatMap(([name, definition]) =>
    aliasesOf(definition).flatMap((alias) => (alias.length === 1 ? [[alias, name] as const] : [])),
  );
  return Object.fromEntries(letters);
}

/** Moves flags before the name of a sub-command behind it: `ctl -n web get` becomes `ctl get -n web`. */
export function nameFirst(args: ArgsDef, argv: readonly string[]): readonly string[] {
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
    const aliases = aliasesOf(definition);
    for (const spelling of aliases.filter(({ length }) => length > 1))
      options[spelling] = { type, multiple: true };
    const short = aliases.find(({ length }) => length === 1);
    options[name] = { type, multiple: true, ...(short !== undefined && { short }) };
  }
  return options;
}

/** Returns the other names of a flag; a single letter is its short form. */
export const aliasesOf = (definition: ArgDef): string[] =>
  'alias' in definition ? [definition.alias ?? []].flat() : [];

/**
 * Throws UsageError for a flag that the command does not have, that lacks its value or that has a value it
 * does not take.
 */
export function checkArguments(
  path: string,
  args: ArgsDef,
  argv: readonly string[],
  elsewhere: Elsewhere = () => undefined,
): { help: boolean } {
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
    throw new UsageError(argumentsProblem(path, Object.keys(options), errorMessage(error), elsewhere));
  }
}

/** Returns the message for arguments that parseArgs rejected with `message`. */
function argumentsProblem(
  path: string,
  known: readonly string[],
  message: string,
  elsewhere: Elsewhere,
): string {
  const [, flag] = /^Unknown option '(--?[^']*)'/.exec(message) ?? [];
  if (flag !== undefined) return unknownFlag(path, flag, known, elsewhere(flag));
  const [, word = ''] = /^Unexpected argument '([^']*)'/.exec(message) ?? [];
  const hint = elsewhere(word);
  if (hint !== undefined) return `${path} ${word}: ${hint}`;
  const [, valued] = /^Option '[^']*' argument is ambiguous.* use '(--[^=]+)=/.exec(message) ?? [];
  if (valued !== undefined)
    return `${path}: ${valued} needs a value; a value that begins with a dash is written ${valued}=VALUE`;
  const [, boolean] = /^Option '(?:-\w, )?(--[^' ]+)' does not take an argument/.exec(message) ?? [];
  if (boolean !== undefined)
    return `${path}: ${boolean} takes no value but true or false, as in ${boolean}=false; see ${path} --help`;
  return `${path}: ${firstSentence(message)}; see ${path} --help`;
}

/** Commands that take any number of words declare the first one. */
export function takesPositionals(args: ArgsDef): boolean {
  return Object.values(args).some(({ type }) => type === 'positional');
}

function unknownFlag(path: string, flag: string, known: readonly string[], elsewhere?: string): string {
  const meant = nearest(flag.replace(/^-+(no-)?/, ''), known).map((name) => `--${name}`);
  const what = `${path}: unknown flag ${flag}`;
  if (elsewhere !== undefined) return `${what}: ${elsewhere}`;
  return meant.length > 0 ? `${what}: did you mean ${meant.join(' or ')}?` : `${what}; see ${path} --help`;
}

function firstSentence(message: string): string {
  const [sentence = message] = message.split('. ', 1);
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
