/**
 * Kinds that extension servers have. Their objects are not stored here: controllers read and delete them by
 * requests, as every other client does.
 */
import type { ResourceRef } from './resource-definition.ts';

export interface ExtensionKind extends ResourceRef {
  readonly verbs: readonly string[];
}

export interface ExtensionKinds {
  /** The kinds, each once, in the preferred version of its group. Another list after every change. */
  readonly current: readonly ExtensionKind[];
  /** Returns the versions, such as `wardle.example.com/v1`, whose kinds are currently unknown. */
  unknownVersions(): readonly string[];
  /** Calls `listener` after each change of the kinds. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}

export const noExtensionKinds: ExtensionKinds = {
  current: [],
  unknownVersions: () => [],
  onChange: () => () => undefined,
};

/** Returns true if the kind can be used by all of these verbs. */
export const supports = ({ verbs }: ExtensionKind, ...wanted: readonly string[]): boolean =>
  wanted.every((verb) => verbs.includes(verb));
