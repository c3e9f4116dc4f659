/** Definition of a kind for `ctl create KIND NAME`: its flags, and the object that is made from them. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import type { ApiResources } from '../objects/discovery.ts';

export interface Generator {
  readonly about: string;
  /** Resource with its group, such as `roles.rbac.authorization.k8s.io`. */
  readonly resource: string;
  readonly flags: FlagTable;
  /** True for a kind without namespace. */
  readonly clusterWide?: true;
  /** True if `make` reads `resources`, so that even a dry run asks the server. */
  readonly needsResources?: true;
  /** True if words after the name, or behind `--`, are the command of a container. */
  readonly takesCommand?: true;
  /** Required flags and the command, for the usage line. */
  readonly usage?: string;
  /** Command lines for the help, as those of a Verb, without `ctl create`. */
  readonly examples?: readonly string[];
  /** Returns the object. Throws UsageError for missing or invalid flags. */
  make(given: Given): JsonObject;
}

export interface Given {
  readonly name: string;
  readonly flags: Flags;
  /** Words after the name, or behind `--`. */
  readonly command: readonly string[];
  /** The resources that the server serves; empty unless the generator needs them. */
  readonly resources: ApiResources;
  /** Files that flags name. */
  readonly files: SourceFiles;
  /** Environment of the command. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns random letters and digits for the end of a name. */
  suffix(): string;
  warn(text: string): void;
}

export interface SourceFiles {
  /** Returns the bytes of a file; throws UsageError if it cannot be read. */
  read(path: string): Uint8Array;
  /** Returns the names of the regular files in a directory, sorted; undefined if the path is no directory. */
  list(path: string): readonly string[] | undefined;
}

/** Returns the values of a flag that may be repeated and may hold several values each, without duplicates. */
export const wordsOf = (flags: Flags, name: string): string[] => [
  ...new Set(flags.texts(name).flatMap((text) => text.split(','))),
];

/** Returns metadata as Go's clients encode it: a new object has an empty time of creation. */
export const newMetadata = (name?: string, more: JsonObject = {}): JsonObject => ({
  ...(name !== undefined && { name }),
  creationTimestamp: null,
  ...more,
});
