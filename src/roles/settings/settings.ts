/**
 * The settings of a role. The precedence is: flags, then `MINIK8S_*` variables, then the configuration file,
 * then defaults.
 */
import type { ArgsDef } from 'citty';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { featureOf } from '../../features/settings.ts';
import type { SettingDefinition, SettingRows, SettingValues } from '../../settings/definition.ts';
import { flagHeadings } from '../../settings/subjects.ts';
import { nearest } from '../../terminal/nearest.ts';
import { type ConfigFile, type KeyLines, readConfigFile } from './config-file.ts';

/** Returns the command-line flags of a role, in the order of its rows. */
export function settingArgs(rows: SettingRows, configFile: string): ArgsDef {
  const config = {
    description: 'configuration file; its keys are the names of these flags',
    valueHint: 'FILE',
    usual: configFile,
    group: flagHeadings.config,
  };
  const args: ArgsDef = { config: { type: 'string', ...config } };
  for (const [name, { about, hint = 'VALUE', secret, ...definition }] of Object.entries(rows)) {
    if (secret) continue;
    const usual = definition.default ?? definition.usual;
    const shown = { description: about, valueHint: hint, ...(usual !== undefined && { usual }) };
    const { choices } = definition.read;
    const more = { group: definition.subject, ...(choices !== undefined && { choices }) };
    args[name] = { type: 'string', ...shown, ...more };
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

/** Returns the path of the configuration file, and whether `--config` or its variable has named it. */
export function configPath({
  flags,
  environment,
  configFile,
}: Pick<SettingSources, 'flags' | 'environment' | 'configFile'>) {
  const named = flags.config ?? environment.MINIK8S_CONFIG;
  const isNamed = typeof named === 'string';
  return { path: isNamed ? named : configFile, isNamed };
}

/**
 * Throws UsageError that names the invalid flag or variable, every unknown key of the file, or a setting of a
 * feature that is switched off.
 */
export function readSettings<const T extends SettingRows>(
  rows: T,
  sources: SettingSources,
): SettingValues<T> {
  const { path, isNamed } = configPath(sources);
  const { content, lines } = readConfigFile(path, isNamed);
  const file = sources.translate?.(content, path) ?? content;
  const unknown = unknownKeys({ file, lines }, Object.keys(rows), sources.command);
  if (unknown !== undefined) throw new UsageError(`${path}: ${unknown}`);
  const settings: Record<string, unknown> = {};
  const given = new Map<string, string>();
  for (const [name, definition] of Object.entries(rows)) {
    const found = givenValue(name, definition, sources, { path, file, lines });
    if (found) given.set(name, found.origin);
    const value = found ?? defaultValue(name, definition);
    if (value) settings[name] = readOne(definition, value.origin, value.value);
  }
  refuseSwitchedOff(given, settings.features);
  return settings as SettingValues<T>;
}

interface GivenValue {
  /** The flag, variable or key, for messages. */
  readonly origin: string;
  readonly value: unknown;
}

/** Returns the value of the first source that has the setting; undefined if none has it. */
function givenValue(
  name: string,
  { secret }: SettingDefinition<unknown>,
  { flags, environment }: SettingSources,
  { path, file, lines }: { readonly path: string; readonly file: ConfigFile; readonly lines: KeyLines },
): GivenValue | undefined {
  const variable = `MINIK8S_${name.toUpperCase().replaceAll('-', '_')}`;
  const candidates: readonly GivenValue[] = [
    { origin: `--${name}`, value: secret ? undefined : flags[name] },
    { origin: variable, value: environment[variable] },
    { origin: `${path}: ${lines(name)}${name}`, value: file[name] },
  ];
  // A key without a value counts as missing.
  return candidates.find(({ value }) => (value ?? undefined) !== undefined);
}

const defaultValue = (name: string, definition: SettingDefinition<unknown>): GivenValue | undefined =>
  definition.default === undefined ? undefined : { origin: `--${name}`, value: definition.default };

/** Throws UsageError for a setting that no part of this process would read. */
function refuseSwitchedOff(given: ReadonlyMap<string, string>, features: unknown): void {
  if (!Array.isArray(features)) return;
  for (const [name, origin] of given) {
    const feature = featureOf(name);
    if (feature !== undefined && !features.includes(feature))
      throw new UsageError(
        `${origin} belongs to the feature ${feature}, which --features switches off: leave it out, or add ${feature} to --features`,
      );
  }
}

/**
 * Lists all unknown keys, with similar settings, and the command whose help lists the settings if a key is
 * similar to none; undefined if there are no unknown keys.
 */
function unknownKeys(
  { file, lines }: { readonly file: ConfigFile; readonly lines: KeyLines },
  names: readonly string[],
  command: string,
): string | undefined {
  const unknown = Object.keys(file).filter((key) => !names.includes(key));
  if (unknown.length === 0) return undefined;
  const shown = unknown.slice(0, maxShown).map((key) => {
    const meant = nearest(key, names);
    return { key, hint: meant.length > 0 ? ` (did you mean ${meant.join(' or ')}?)` : '' };
  });
  const faults = shown.map(({ key, hint }) => `${lines(key)}${key}: no such setting${hint}`);
  if (unknown.length > maxShown) faults.push(`and ${unknown.length - maxShown} more`);
  const lost = shown.some(({ hint }) => hint === '');
  return `${faults.join(', ')}${lost ? `; see ${command} --help` : ''}`;
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
