/**
 * The file kuberc: a user's aliases of commands and defaults of flags, which kubectl reads since 1.34, and
 * 1.33 with KUBECTL_KUBERC=true. Its versions are kubectl.config.k8s.io/v1alpha1, and v1beta1 of later
 * kubectls, which has other names of the fields. It never holds clusters or credentials.
 */
import { join } from 'node:path';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { readBoundedSync } from '../../os/bounded-file.ts';
import type { Io } from '../io.ts';
import type { PluginPolicy } from './plugin-policy.ts';

export interface FlagDefault {
  readonly name: string;
  readonly default: string;
}

export interface Override {
  readonly command: string;
  readonly flags: readonly FlagDefault[];
}

export interface Alias extends Override {
  readonly name: string;
  readonly prependArgs: readonly string[];
  readonly appendArgs: readonly string[];
}

export interface Preferences {
  readonly aliases: readonly Alias[];
  readonly overrides: readonly Override[];
  /** The policy for credential plugins; undefined: all may run. */
  readonly plugins?: PluginPolicy;
}

/** Returns the default path of the file. */
export const usualFile = (homeDirectory: string): string => join(homeDirectory, '.kube', 'kuberc');

/**
 * Returns the preferences of the file; undefined if there is none. Throws for one that is not valid, and for
 * an unknown field, which a change would drop.
 */
export function readPreferences(file: string): Preferences | undefined {
  try {
    const { preferences, unknown } = parsePreferences(readBoundedSync(file), file);
    if (unknown !== undefined) throw strictError(unknown);
    return preferences;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`error reading kuberc file: ${(error as Error).message}`);
  }
}

/** Returns the document that holds the preferences, with fields in the order of Go's types. */
export const documentOf = ({ overrides, aliases, plugins }: Preferences): JsonObject => ({
  kind: 'Preference',
  apiVersion: 'kubectl.config.k8s.io/v1beta1',
  defaults: overrides.map(({ command, flags }) => ({ command, options: flags.map(optionOf) })),
  aliases: aliases.map(({ name, command, prependArgs, appendArgs, flags }) => ({
    ...{ name, command },
    ...(prependArgs.length > 0 && { prependArgs }),
    ...(appendArgs.length > 0 && { appendArgs }),
    ...(flags.length > 0 && { options: flags.map(optionOf) }),
  })),
  ...(plugins && { credentialPluginPolicy: plugins.policy }),
  ...(plugins &&
    plugins.allowed.length > 0 && {
      credentialPluginAllowlist: plugins.allowed.map((command) => ({ command })),
    }),
});

const optionOf = ({ name, default: value }: FlagDefault) => ({ name, default: value });

/**
 * Returns the preferences of the file that --kuberc or $KUBERC names, or of ~/.kube/kuberc; undefined if
 * there are none. A file that is named must be readable; a problem of ~/.kube/kuberc is a warning. With an
 * unknown field the file is used as far as it is known if it has a policy for credential plugins, which
 * protects, or is named.
 */
export function loadPreferences(
  io: Pick<Io, 'homeDirectory' | 'err'>,
  named: string | undefined,
): Preferences | undefined {
  const file = named ?? usualFile(io.homeDirectory);
  try {
    const { preferences, unknown } = parsePreferences(readBoundedSync(file), file);
    if (unknown === undefined) return preferences;
    const problem = strictError(unknown);
    if (named === undefined && preferences.plugins === undefined) throw problem;
    io.err(`kuberc: ignoring strict decoding error in ${file}: ${problem.message}\n`);
    return preferences;
  } catch (error) {
    if (named !== undefined) throw new Error(`kuberc error kuberc: ${(error as Error).message}`);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      io.err(`kuberc: no preferences loaded from ${file}: ${(error as Error).message}\n`);
    return undefined;
  }
}

const strictError = (field: string) =>
  new Error(`strict decoding error: unknown field ${JSON.stringify(field)}`);

/** Returns the preferences, and the first unknown field. Throws if the text is not a valid kuberc. */
export function parsePreferences(
  text: string,
  file: string,
): { readonly preferences: Preferences; readonly unknown: string | undefined } {
  const none = new Error(`no valid preferences found in ${file}`);
  if (text.trim() === '') return { preferences: { aliases: [], overrides: [] }, unknown: undefined };
  const document = documentIn(text, none);
  const names = document.kind === 'Preference' ? fieldNames[String(document.apiVersion)] : undefined;
  if (!names) throw none;
  const [overridesField, flagsField] = names;
  const reader = new Reader(none, flagsField);
  const overrideFields = ['command', flagsField];
  const aliasFields = ['name', 'prependArgs', 'appendArgs', ...overrideFields];
  const aliases = reader.records(document.aliases, aliasFields, 'aliases').map((alias, index) => ({
    name: reader.text(alias.name),
    prependArgs: reader.texts(alias.prependArgs),
    appendArgs: reader.texts(alias.appendArgs),
    ...reader.override(alias, `aliases[${index}]`),
  }));
  const overrides = reader
    .records(document[overridesField], overrideFields, overridesField)
    .map((override, index) => reader.override(override, `${overridesField}[${index}]`));
  const plugins = reader.plugins(document);
  const documentFields = ['apiVersion', 'kind', 'aliases', overridesField, policyField, allowlistField];
  const unknown = Object.keys(document).find((key) => !documentFields.includes(key)) ?? reader.unknown;
  return { preferences: { aliases, overrides, ...(plugins && { plugins }) }, unknown };
}

/** Names of the fields for defaults of commands, and for their flags, by version. */
const fieldNames: Readonly<Record<string, readonly [overrides: string, flags: string]>> = {
  'kubectl.config.k8s.io/v1alpha1': ['overrides', 'flags'],
  'kubectl.config.k8s.io/v1beta1': ['defaults', 'options'],
};
const flagFields = ['name', 'default'];
const policyField = 'credentialPluginPolicy';
const allowlistField = 'credentialPluginAllowlist';

function documentIn(text: string, none: Error): JsonObject {
  try {
    const { value } = parseYaml(text);
    if (isRecord(value)) return value;
  } catch {
    throw none;
  }
  throw none;
}

/** Reads values of the document; a wrong type makes the whole document invalid, as it does for kubectl. */
class Reader {
  readonly #none: Error;
  readonly #flagsField: string;
  unknown: string | undefined;

  constructor(none: Error, flagsField: string) {
    this.#none = none;
    this.#flagsField = flagsField;
  }

  records(value: unknown, fields: readonly string[], path: string): JsonObject[] {
    return this.#list(value).map((entry, index) => {
      if (!isRecord(entry)) throw this.#none;
      const key = Object.keys(entry).find((name) => !fields.includes(name));
      if (key !== undefined) this.unknown ??= `${path}[${index}].${key}`;
      return entry;
    });
  }

  override(entry: JsonObject, path: string): Override {
    const field = this.#flagsField;
    const flags = this.records(entry[field], flagFields, `${path}.${field}`);
    return {
      command: this.text(entry.command),
      flags: flags.map((flag) => ({ name: this.text(flag.name), default: this.text(flag.default) })),
    };
  }

  /** Reads which credential plugins may run. `name` is the field of `command` in kubectl 1.35. */
  plugins(document: JsonObject): PluginPolicy | undefined {
    const policy = this.text(document[policyField]);
    const entries = this.records(document[allowlistField], ['command', 'name'], allowlistField);
    const allowed = entries.map(({ command, name }) => this.text(command) || this.text(name));
    return policy === '' && allowed.length === 0 ? undefined : { policy, allowed };
  }

  texts(value: unknown): string[] {
    return this.#list(value).map((entry) => this.text(entry));
  }

  text(value: unknown): string {
    if (value === undefined || value === null) return '';
    if (typeof value !== 'string') throw this.#none;
    return value;
  }

  #list(value: unknown): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.#none;
    return value;
  }
}
