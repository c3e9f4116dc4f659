/** Definition of a kind for `ctl create KIND NAME`: its flags, and the object that is made from them. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import type { ApiResources } from '../objects/discovery.ts';

export interface Generator {
  readonly about: string;
  /** Resource with its group, such as `roles.rbac.authorization.k8s.io`. */
  readonly resource: string;
  readonly flags: FlagTable;
  /** Returns the object. Pure. Throws UsageError for missing or invalid flags. */
  make(given: Given): JsonObject;
}

export interface Given {
  readonly name: string;
  readonly flags: Flags;
  /** The resources that the server serves, for generators that need them. */
  readonly resources: ApiResources;
  warn(text: string): void;
}

/** Returns the values of a flag that may be repeated and may hold several values each, without duplicates. */
export const wordsOf = (flags: Flags, name: string): string[] => [
  ...new Set(flags.texts(name).flatMap((text) => text.split(','))),
];
