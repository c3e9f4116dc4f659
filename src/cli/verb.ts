/** Verbs of `ctl`: what each command is made of, and what it gets to run. */
import type { Palette } from '../terminal/color.ts';
import type { Cluster } from './connection/cluster.ts';
import type { Flags, FlagTable } from './flags/flags.ts';
import type { Io } from './io.ts';
import type { ObjectTarget } from './objects/object-target.ts';

export interface VerbContext {
  readonly io: CtlIo;
  readonly flags: Flags;
  /** The colours for `io.out`. */
  readonly palette: Palette;
  /** Connects on the first call; throws if no kubeconfig names a server. */
  cluster(): Cluster;
  /** Prints the error; the command continues and ends with status 1. */
  report(error: unknown): void;
}

export interface Verb {
  readonly about: string;
  /** Placeholder of its words, such as `POD`; absent if it takes none. */
  readonly words?: string;
  readonly flags?: FlagTable;
  /** Command lines for the help, without the name of the program: `ctl get pods`. */
  readonly examples?: readonly string[];
  /** Words in front of the typed words. */
  readonly firstWords?: readonly string[];
  /** Sub-commands, by the word after the command's name. */
  readonly inner?: Readonly<Record<string, Verb | VerbGroup>>;
  /** An interrupt is its usual end: status 0. */
  readonly untilInterrupted?: true;
  run(context: VerbContext): Promise<void>;
}

export interface VerbGroup {
  readonly about: string;
  readonly verbs: Readonly<Record<string, Verb>>;
}

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

/** The effects of a command, with the parts of `ctl` that features add. */
export interface CtlIo extends Io {
  /** Name of the link through which the client is called; absent for `minik8s ctl`. */
  readonly calledAs?: 'kubectl';
  readonly features: CtlFeatures;
}
