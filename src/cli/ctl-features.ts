/** Parts of ctl that features of minik8s add. */
import type { ObjectTarget } from './objects/targets.ts';
import type { Verb, VerbContext, VerbGroup } from './verb.ts';

/**
 * Prints the log of an object that has no pods. `given` are the flags of `logs` that were given; throws
 * UsageError for unknown ones.
 */
export type PrintLog = (
  context: VerbContext,
  target: ObjectTarget,
  given: readonly string[],
) => Promise<void>;

export interface CtlFeatures {
  /** Verbs by name, loaded when they are called. */
  readonly verbs: Readonly<Record<string, () => Promise<Verb | VerbGroup>>>;
  /** Logs of kinds by `PLURAL.GROUP`, loaded when they are printed. */
  readonly logs: Readonly<Record<string, () => Promise<PrintLog>>>;
}

export const noFeatures: CtlFeatures = { verbs: {}, logs: {} };
