/**
 * The settings of a role. Flags take precedence over `MINIK8S_*` variables, those over the configuration
 * file, and that over defaults.
 */
import { readFileSync } from 'node:fs';
import type { ArgsDef } from 'citty';
import { parse } from 'yaml';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { nearest } from '../../terminal/nearest.ts';
import { settingSubjects } from './setting-groups.ts';
import { settingTable } from './setting-table.ts';
import type { SettingDefinition } from './setting-values.ts';

type Table = typeof settingTable;
export type SettingName = keyof Table;

type Value<N extends SettingName> = Table[N]['read'] extends (text: string) => infer T ? T : never;

/** A setting with a default always has a value. */
export type Settings<N extends SettingName> = {
  readonly [K in N]: Table[K] extends { default: string } ? Value<K> : Value<K> | undefined;
};

/** Returns the command-line flags of a role, grouped by subject. */
export function settingArgs(names: readonly SettingName[], configFile: string): ArgsDef {
  const config = {
    description: 'configuration file; its keys are the names of these flags',
    valueHint: 'FILE',
    usual: configFile,
    group: settingSubjects.headingOf('config'),
  };
  const args: ArgsDef = { config: { type: 'string', ...config } };
  for (const name of settingSubjects.sorted(names)) {
    const { about, hint = 'VALUE', secret, ...definition }: SettingDefinition<unknown> = settingTable[name];
    if (secret) continue;
    const usual = definition.default ?? definition.usual;
    const shown = { description: about, valueHint: hint, ...(usual !== undefined && { usual }) };
    args[name] = { type: 'string', ...shown, ...{ group: settingSubjects.headingOf(name) } };
  }
  return args;
}

export interface SettingSources {
  /** Flags by name, in citty's form. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Command whose --help lists the settings, such as `minik8s node`. */
  readonly command: string;
  /** Path of a file that is read if it exists; a file named by `--config` must exist. */
  readonly configFile: string;
  /** Converts other spellings of the file's keys to the settings' own names. */
  readonly translate?: (file: ConfigFile, path: string) => ConfigFile;
}

export type ConfigFile = Readonly<Record<string, unknown>>;

/** Throws UsageError that names the invalid flag or variable, or every unknown key of the file. */
export function readSettings<const N extends SettingName>(
  names: readonly N[],
  sources: SettingSources,
): Settings<N> {
  const named = sources.flags.config ?? sources.environment.MINIK8S_CONFIG;
  const path = typeof named === 'string' ? named : sources.configFile;
  const content = readConfigFile(path, typeof named === 'string');
  const file = sources.translate?.(content, path) ?? content;
  const unknown = unknownKeys(file, names, sources.command);
  if (unknown !== undefined) throw new UsageError(`${path}: ${unknown}`);
  const settings: Partial<Record<SettingName, unknown>> = {};
  for (const name of names) {
    const value = readSetting(name, sources, { path, file });
    if (value !== undefined) settings[name] = value;
  }
  return settings as Settings<N>;
}

/** Returns the value of the first source that has the setting; undefined if none has it. */
function readSetting(
  name: SettingName,
  { flags, environment }: SettingSources,
  { path, file }: { readonly path: string; readonly file: ConfigFile },
): unknown {
  const definition: SettingDefinition<unknown> = settingTable[name];
  const variable = `MINIK8S_${name.toUpperCase().replaceAll('-', '_')}`;
  const candidates: readonly (readonly [string, unknown])[] = [
    [`--${name}`, definition.secret ? undefined : flags[name]],
    [variable, environment[variable]],
    [`${path}: ${name}`, file[name]],
    [`--${name}`, definition.default],
  ];
  // A key without a value counts as missing.
  const [origin, value] = candidates.find(([, candidate]) => (candidate ?? undefined) !== undefined) ?? [];
  return value === undefined ? undefined : readOne(definition, origin ?? '', value);
}

/**
 * Lists all unknown keys, with similar settings, and the command whose help lists the settings if a key is
 * similar to none; undefined if there are no unknown keys.
 */
function unknownKeys(file: ConfigFile, names: readonly string[], command: string): string | undefined {
  const unknown = Object.keys(file).filter((key) => !names.includes(key));
  if (unknown.length === 0) return undefined;
  const shown = unknown.slice(0, maxShown).map((key) => {
    const meant = nearest(key, names);
    return { key, hint: meant.length > 0 ? ` (did you mean ${meant.join(' or ')}?)` : '' };
  });
  const lines = shown.map(({ key, hint }) => `${key}: no such setting${hint}`);
  if (unknown.length > maxShown) lines.push(`and ${unknown.length - maxShown} more`);
  const lost = shown.some(({ hint }) => hint === '');
  return `${lines.join(', ')}${lost ? `; see ${command} --help` : ''}`;
}

/** Maximum number of unknown keys in the error. */
const maxShown = 20;

function readOne(definition: SettingDefinition<unknown>, origin: string, value: unknown): unknown {
  const words = wordsOf(value);
  try {
    return definition.read(words);
  } catch (error) {
    const shown = definition.secret ? '' : `"${words}": `;
    throw new UsageError(`${origin}: ${shown}${errorMessage(error)}`);
  }
}

/** Converts a list, a map or a taint's map to the text form of the command line. */
function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join(',');
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  if ('key' in value && 'effect' in value) {
    const { key, effect, value: content } = value as Readonly<Record<string, unknown>>;
    return `${key}${content === undefined ? '' : `=${content}`}:${effect}`;
  }
  return Object.entries(value)
    .map(([key, content]) => `${key}=${typeof content === 'object' ? JSON.stringify(content) : content}`)
    .join(',');
}

function readConfigFile(path: string, mustExist: boolean): ConfigFile {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if (!mustExist && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageError(`cannot read the configuration file ${path}: ${whyUnreadable(error)}`);
  }
  let value: unknown;
  try {
    value = parse(content) ?? {};
  } catch (error) {
    // The first line names the place; the lines after it show the place.
    const [what = ''] = (error as Error).message.split(/:?\n/);
    throw new UsageError(`${path}: not YAML: ${what}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${path}: expected lines such as "port: 6443"`);
  }
  return value as Record<string, unknown>;
}

function whyUnreadable(error: unknown): string {
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a directory',
    EACCES: 'permission denied',
  };
  return known[(error as NodeJS.ErrnoException).code ?? ''] ?? errorMessage(error);
}
