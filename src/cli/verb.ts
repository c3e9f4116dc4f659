/** Verbs of `ctl`: the definition of a command, and the context in which it runs. */
import type { Palette } from '../terminal/color.ts';
import type { Rules } from '../why/rule.ts';
import type { Cluster } from './connection/cluster.ts';
import type { Describer } from './describe/describer.ts';
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

/** Headings of the commands of `ctl` in --help, in their order; all but one are those of kubectl. */
export const commandGroups = [
  'Basic Commands (Beginner)',
  'Basic Commands (Intermediate)',
  'Deploy Commands',
  'Cluster Management Commands',
  'Troubleshooting and Debugging Commands',
  'Advanced Commands',
  'Settings Commands',
  'Functions, Workflows and Slurm',
  'Other Commands',
] as const;

export type CommandGroup = (typeof commandGroups)[number];

export interface Verb {
  /** One sentence in the imperative, without a full stop. */
  readonly about: string;
  /** Heading of the command in the help of `ctl`. */
  readonly group?: CommandGroup;
  /** Forms of the command's words, such as `POD` or `TYPE [NAME...]`; absent if it takes none. */
  readonly words?: string | readonly string[];
  readonly flags?: FlagTable;
  /** Command lines for the help, without `minik8s`, each with its purpose: `ctl get pods # list the pods`. */
  readonly examples?: readonly string[];
  /** Words that are put in front of the typed words, such as the kind of a verb that works with one kind. */
  readonly firstWords?: readonly string[];
  /** Sub-commands, by the word after the command's name. */
  readonly inner?: Readonly<Record<string, Verb | VerbGroup>>;
  /** True if the command usually ends by an interrupt, which then gives status 0. */
  readonly untilInterrupted?: true;
  /** Exit status of a wrong command line; default: 1. */
  readonly usageStatus?: number;
  run(context: VerbContext): Promise<void>;
}

export interface VerbGroup {
  readonly about: string;
  readonly group?: CommandGroup;
  readonly examples?: readonly string[];
  readonly verbs: Readonly<Record<string, Verb>>;
}

/**
 * Prints the log of an object of a kind without pods. `given` are the flags of `logs` on the command line;
 * rejects with UsageError for one that the kind does not support.
 */
export type PrintLog = (
  context: VerbContext,
  target: ObjectTarget,
  given: readonly string[],
) => Promise<void>;

export interface CtlFeatures {
  /** Verbs by name, loaded when they are called. */
  readonly verbs: Readonly<Record<string, () => Promise<Verb | VerbGroup>>>;
  /** Describers of kinds by `KIND.GROUP`, loaded when an object of the kind is described. */
  readonly describers: Readonly<Record<string, () => Promise<Describer>>>;
  /** Rules of `ctl why` for kinds of features. */
  readonly rules: () => Promise<Rules>;
  /** Logs of kinds by `PLURAL.GROUP`, loaded when they are printed. */
  readonly logs: Readonly<Record<string, () => Promise<PrintLog>>>;
}

/** The effects that a command may use, with the parts of `ctl` that features add. */
export interface CtlIo extends Io {
  /** Name of the link through which the client is called; absent for `minik8s ctl`. */
  readonly calledAs?: 'kubectl';
  readonly features: CtlFeatures;
}
