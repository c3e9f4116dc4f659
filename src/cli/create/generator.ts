/** What `ctl create KIND NAME` needs to know of a kind: its flags, and the object that they make. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { ApiResources } from '../discovery.ts';
import type { Flags, FlagTable } from '../flags.ts';

export interface Generator {
  readonly about: string;
  /** As `roles.rbac.authorization.k8s.io`. */
  readonly resource: string;
  readonly flags: FlagTable;
  /** Pure. Throws UsageError for flags that say too little, or what cannot be. */
  make(given: Given): JsonObject;
}

export interface Given {
  readonly name: string;
  readonly flags: Flags;
  /** What the server serves, for those who name resources. */
  readonly resources: ApiResources;
  warn(text: string): void;
}

/** The values of a flag that may be repeated, and each of which may hold several, each once. */
export const wordsOf = (flags: Flags, name: string): string[] => [
  ...new Set(flags.texts(name).flatMap((text) => text.split(','))),
];
