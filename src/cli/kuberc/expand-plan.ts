/** Expands a command line by the aliases and defaults of a kuberc, as kubectl 1.33 does. Pure. */
import type { FlagTable } from '../flags/flags.ts';
import type { FlagDefault, Preferences } from './preferences.ts';

/** A command of the client. */
export interface FoundCommand {
  /** Its words, such as `create configmap`. */
  readonly path: string;
  readonly flags: FlagTable;
}

/** Returns the command that the words begin with; undefined if there is none. */
export type FindCommand = (words: readonly string[]) => Promise<FoundCommand | undefined>;

/** Throws an Error, in kubectl's words, for preferences that are never valid. */
export function validatePreferences({ aliases, overrides }: Preferences): void {
  const names = new Set<string>();
  for (const { name, flags } of aliases) {
    if (!/^[a-zA-Z]+$/.test(name))
      throw new Error('invalid alias name, can only include alphabetical characters');
    requireLongForm(flags);
    if (names.has(name)) throw new Error(`duplicate alias name ${name}`);
    names.add(name);
  }
  for (const { flags } of overrides) requireLongForm(flags);
}

function requireLongForm(flags: readonly FlagDefault[]): void {
  const wrong = flags.find(({ name }) => name.startsWith('-'));
  if (wrong) throw new Error(`flag name ${wrong.name} should be in long form without dashes`);
}

/**
 * Resolves to the command line with its alias replaced, and with the defaults of the flags that it does not
 * give. `warn` gets a line for each override of a command that does not exist. Rejects, in kubectl's words,
 * for a command or a flag that does not exist.
 */
export async function expandCommandLine(
  argv: readonly string[],
  preferences: Preferences,
  find: FindCommand,
  warn: (line: string) => void,
): Promise<readonly string[]> {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  const command = at < 0 ? undefined : await find(argv.slice(at));
  if (command === undefined) return at < 0 ? argv : expandAlias(argv, at, preferences, find);
  const added: string[] = [];
  for (const override of preferences.overrides) {
    const meant = await find(override.command.split(/\s+/).filter(Boolean));
    if (!meant) warn(`Warning: command "${override.command}" not found to set kuberc override`);
    if (meant?.path !== command.path) continue;
    const missing = `for command ${override.command}`;
    added.push(
      ...defaultsOf(override.flags, command.flags, argv, (name) => `invalid flag ${name} ${missing}`),
    );
  }
  const end = at + command.path.split(' ').length;
  return [...argv.slice(0, end), ...added, ...argv.slice(end)];
}

async function expandAlias(
  argv: readonly string[],
  at: number,
  { aliases }: Preferences,
  find: FindCommand,
): Promise<readonly string[]> {
  const alias = aliases.find(({ name }) => name === argv[at]);
  if (!alias) return argv;
  const words = alias.command.split(/\s+/).filter(Boolean);
  const command = await find(words);
  if (command?.path !== words.join(' '))
    throw new Error(
      `command "${alias.command}" not found to set alias "${alias.name}": [${words.join(' ')}]`,
    );
  const refuse = (name: string) => `invalid alias flag ${name} in alias ${alias.name}`;
  return [
    ...[...argv.slice(0, at), ...words, ...defaultsOf(alias.flags, command.flags, argv, refuse)],
    ...[...alias.prependArgs, ...argv.slice(at + 1), ...alias.appendArgs],
  ];
}

/** Returns the flags, with their defaults, that the command line does not give. */
function defaultsOf(
  defaults: readonly FlagDefault[],
  table: FlagTable,
  argv: readonly string[],
  refusal: (name: string) => string,
): string[] {
  const shorts = new Set(Object.values(table).flatMap(({ short }) => short ?? []));
  return defaults.flatMap(({ name, default: value }) => {
    const definition = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!definition) throw new Error(refusal(name));
    return isGiven(name, definition.short, shorts, argv) ? [] : [`--${name}=${value}`];
  });
}

/** Returns true if the command line has the flag in any form, such as `-o json`, `-ojson` or `-Ao`. */
function isGiven(
  name: string,
  short: string | undefined,
  shorts: ReadonlySet<string>,
  argv: readonly string[],
): boolean {
  return argv.some((word) => {
    if (word === `--${name}` || word.startsWith(`--${name}=`)) return true;
    if (short === undefined) return false;
    if (word.startsWith(`-${short}`)) return true;
    const letters = [...word.slice(1)];
    return /^-[a-zA-Z]+$/.test(word) && letters.every((one) => shorts.has(one)) && letters.includes(short);
  });
}
