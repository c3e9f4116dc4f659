/**
 * Settings of all features, by feature. They are apart from index.ts because every role reads them, also
 * roles that run no controller.
 */
import type { SettingRows, SettingValues } from '../settings/definition.ts';
import { functionSettings } from './functions/api/settings.ts';
import { hostNameSettings } from './host-names/api/settings.ts';
import { ingressSettings } from './ingress/api/settings.ts';
import type { FeatureName } from './names.ts';
import { triggerSettings } from './triggers/api/settings.ts';

/** Rows by feature. No two features may have a setting of the same name. */
export const byFeature = {
  functions: functionSettings,
  'host-names': hostNameSettings,
  ingress: ingressSettings,
  triggers: triggerSettings,
} as const satisfies Partial<Record<FeatureName, SettingRows>>;

type ByFeature = typeof byFeature;
/** Rows of all features: a union of functions takes the intersection of their parameters. */
type AllRows = { [F in keyof ByFeature]: (rows: ByFeature[F]) => void }[keyof ByFeature] extends (
  rows: infer Rows extends SettingRows,
) => void
  ? Rows
  : never;

export const featureSettings: AllRows = Object.assign({}, ...Object.values(byFeature));

const owners: ReadonlyMap<string, string> = new Map(
  Object.entries(byFeature).flatMap(([feature, rows]) => Object.keys(rows).map((name) => [name, feature])),
);

/** Returns the feature that has the setting; undefined for a setting that belongs to no feature. */
export const featureOf = (setting: string): string | undefined => owners.get(setting);

type FeatureValues = SettingValues<AllRows>;

/** Returns the values that belong to features, out of those of a role. */
export function featureValues<V extends Partial<FeatureValues>>(values: V): Pick<V, keyof V & keyof AllRows> {
  const own = Object.entries(values).filter(([name]) => owners.has(name));
  return Object.fromEntries(own) as Pick<V, keyof V & keyof AllRows>;
}
