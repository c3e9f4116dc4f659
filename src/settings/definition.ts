/**
 * A setting of the roles, in one row: the flag, the variable and the key in the configuration file have the
 * name of the row. Everything else is derived from the row: --help, the keys of the file, the types, and
 * which commands have the setting.
 */
import type { SettingSubject } from './subjects.ts';

/**
 * Part of the program that has a setting. `minik8s up` has the settings of the control plane and of the node,
 * `minik8s node` those of the node and of its join.
 */
export type SettingPart = 'control plane' | 'node' | 'join' | 'reset' | 'slurm-client';

export interface SettingDefinition<T> {
  readonly about: string;
  /** Placeholder of the value in the usage text; a secret needs none, as it has no flag. */
  readonly hint?: string;
  /** Default, as a user would type it; absent if the role computes its own value. */
  readonly default?: string;
  /** Behaviour without the setting, for the usage text, if there is no default. */
  readonly usual?: string;
  /** Reads the text; throws an Error whose message says what is expected. */
  readonly read: ((text: string) => T) & { readonly choices?: readonly string[] };
  /**
   * Secret settings have no flag, since everybody on the machine can see flags, and no message repeats their
   * value.
   */
  readonly secret?: boolean;
  /** Heading of the flag on the pages of --help. */
  readonly subject: SettingSubject;
  readonly parts: readonly SettingPart[];
  /** True if all masters of one etcd must have the same value. */
  readonly shared?: true;
}

export type SettingRows = Readonly<Record<string, SettingDefinition<unknown>>>;

/** Values of the rows by name. A setting with a default always has a value. */
export type SettingValues<T extends SettingRows> = {
  readonly [K in keyof T]: T[K] extends { default: string } ? Value<T[K]> : Value<T[K]> | undefined;
};

type Value<D extends SettingDefinition<unknown>> = D['read'] extends (text: string) => infer T ? T : never;

export function define<const T extends SettingRows>(rows: T): T {
  return rows;
}
