/** Rows of all settings of all roles, and the selection of the rows that a command has. */
import { featureSettings } from '../../features/settings.ts';
import type { SettingPart, SettingRows, SettingValues } from '../../settings/definition.ts';
import { settingSubjects } from '../../settings/subjects.ts';
import { addressSettings } from './address-settings.ts';
import { agentSettings } from './agent-settings.ts';
import { apiServerSettings } from './api-server-settings.ts';
import { backupSettings, bucketSettings } from './backup-settings.ts';
import { controllerSettings } from './controller-settings.ts';
import { machineSettings } from './machine-settings.ts';

export const settingTable = {
  ...machineSettings,
  ...apiServerSettings,
  ...backupSettings,
  ...bucketSettings,
  ...addressSettings,
  ...controllerSettings,
  ...agentSettings,
  ...featureSettings,
} as const satisfies SettingRows;

type Table = typeof settingTable;
type SettingName = keyof Table;

/** Values of some settings by name, such as `Settings<'data-dir' | 'docker-socket'>`. */
export type Settings<N extends SettingName> = SettingValues<Pick<Table, N>>;

type NamesOf<P extends SettingPart> = {
  [N in SettingName]: [Extract<Table[N]['parts'][number], P>] extends [never] ? never : N;
}[SettingName];

/** Values of all settings of some parts, such as `PartSettings<'control plane'>`. */
export type PartSettings<P extends SettingPart> = Settings<NamesOf<P>>;

/** Returns the rows of some parts of the program, in the order of --help. */
export function settingRows<const P extends SettingPart>(...parts: readonly P[]): Pick<Table, NamesOf<P>> {
  const wanted: ReadonlySet<string> = new Set(parts);
  const rows = Object.entries<SettingRows[string]>(settingTable)
    .filter(([, row]) => row.parts.some((part) => wanted.has(part)))
    .toSorted(([, a], [, b]) => placeOf(a) - placeOf(b));
  return Object.fromEntries(rows) as SettingRows as Pick<Table, NamesOf<P>>;
}

const placeOf = ({ subject }: SettingRows[string]) => settingSubjects.indexOf(subject);

type SharedName = { [N in SettingName]: Table[N] extends { shared: true } ? N : never }[SettingName];

/** Values of the settings that all masters of one etcd have in common. */
export type SharedSettings = Settings<SharedName>;

export const sharedNames = Object.entries<SettingRows[string]>(settingTable)
  .filter(([, { shared }]) => shared)
  .map(([name]) => name) as readonly SharedName[];
