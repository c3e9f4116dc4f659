/** Changes of a kuberc by `ctl kuberc set`, with kubectl's rules and words. Pure. */
import { UsageError } from '../../base/usage-error.ts';
import type { PluginPolicy } from './plugin-policy.ts';
import type { FlagDefault, Preferences } from './preferences.ts';

/** The flags of `kuberc set`. */
export interface WantedPreference {
  readonly section: string;
  readonly command: string;
  readonly name: string;
  readonly options: readonly string[];
  readonly prependArgs: readonly string[];
  readonly appendArgs: readonly string[];
  readonly overwrite: boolean;
  readonly policy: string;
  readonly allowlist: readonly string[];
}

const sections = { defaults: withDefaults, aliases: withAlias, credentialplugin: withPolicy } as const;

/** Returns the changed preferences. Throws UsageError for wrong flags, and for an entry that exists. */
export function changedPreferences(before: Preferences, wanted: WantedPreference): Preferences {
  const { section } = wanted;
  if (!Object.hasOwn(sections, section))
    throw new UsageError(`--section must be "defaults", "aliases", or "credentialplugin", got: ${section}`);
  return sections[section as keyof typeof sections](before, wanted);
}

function withDefaults(before: Preferences, wanted: WantedPreference): Preferences {
  const { command, name, prependArgs, appendArgs, overwrite } = wanted;
  if (name) throw new UsageError('--name should not be specified when --section=defaults');
  if (prependArgs.length > 0 || appendArgs.length > 0)
    throw new UsageError('--prependarg and --appendarg are only valid for --section=aliases');
  requireCommand(command);
  const flags = optionsOf(wanted);
  const old = before.overrides.find((one) => one.command === command);
  if (old && !overwrite)
    throw new UsageError(
      `defaults for command ${JSON.stringify(command)} already exist, use --overwrite to replace`,
    );
  const entry = { command, flags: flags.length > 0 ? flags : (old?.flags ?? []) };
  return { ...before, overrides: replaced(before.overrides, old, entry) };
}

function withAlias(before: Preferences, wanted: WantedPreference): Preferences {
  const { command, name, prependArgs, appendArgs, overwrite } = wanted;
  if (!name) throw new UsageError('--name is required when --section=aliases');
  requireCommand(command);
  const flags = optionsOf(wanted);
  const old = before.aliases.find((one) => one.name === name);
  if (old && !overwrite)
    throw new UsageError(`alias ${JSON.stringify(name)} already exists, use --overwrite to replace`);
  const kept = <T>(given: readonly T[], former: readonly T[] | undefined) =>
    given.length > 0 ? given : (former ?? []);
  const entry = {
    ...{ name, command },
    prependArgs: kept(prependArgs, old?.prependArgs),
    appendArgs: kept(appendArgs, old?.appendArgs),
    flags: kept(flags, old?.flags),
  };
  return { ...before, aliases: replaced(before.aliases, old, entry) };
}

function withPolicy(before: Preferences, { policy, allowlist }: WantedPreference): Preferences {
  if (!policy) throw new UsageError('--policy is required when --section=credentialplugin');
  if (!['AllowAll', 'DenyAll', 'Allowlist'].includes(policy))
    throw new UsageError(`--policy must be "AllowAll", "DenyAll", or "Allowlist", got: ${policy}`);
  const when = 'when --section=credentialplugin and --policy=Allowlist';
  if (policy !== 'Allowlist' && allowlist.length > 0)
    throw new UsageError(`--allowlist-entry may only be used ${when}`);
  if (policy === 'Allowlist' && allowlist.length === 0)
    throw new UsageError(`--allowlist-entry is required ${when}`);
  const plugins: PluginPolicy = {
    policy,
    allowed: allowlist.flatMap((text) => text.split(',').map(entryOf)),
  };
  return { ...before, plugins };
}

function requireCommand(command: string): void {
  if (!command) throw new UsageError('--command is required when --section=aliases or --section=defaults');
}

const optionsOf = ({ options }: WantedPreference): readonly FlagDefault[] =>
  options.map((option) => {
    const at = option.indexOf('=');
    if (at < 0) throw new UsageError(`invalid option format ${JSON.stringify(option)}, expected flag=value`);
    return { name: option.slice(0, at).replace(/^-+/, ''), default: option.slice(at + 1) };
  });

function entryOf(text: string): string {
  const at = text.indexOf('=');
  if (at < 0) throw new UsageError(`improperly formatted allowlist entry: ${JSON.stringify(text)}`);
  const [field, value] = [text.slice(0, at), text.slice(at + 1)];
  if (field !== 'command')
    throw new UsageError(`unrecognized allowlist entry field: ${JSON.stringify(field)}; use "command"`);
  if (value.trim() === '') throw new UsageError('empty value in allowlist entry for field "command"');
  return value;
}

/** Returns the list with the entry in the place of the old one, or at the end. */
const replaced = <T>(all: readonly T[], old: T | undefined, entry: T): readonly T[] =>
  old === undefined ? [...all, entry] : all.map((one) => (one === old ? entry : one));
