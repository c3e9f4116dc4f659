/** A rule: how one cause is recognized in an object, and what mends it. */
import type { JsonObject } from '../apimachinery/equality.ts';
import type { KindKey, ObjectRef } from './kinds.ts';
import type { Snapshot } from './snapshot.ts';

/** How bad a finding is, the worst first. */
export const severities = ['broken', 'degraded', 'waiting'] as const;
export type Severity = (typeof severities)[number];

/** The end of a container's log, which the asker reads before the finding is shown. */
export interface LogQuestion {
  readonly pod: ObjectRef;
  readonly container: string;
  /** True for the log of the container's previous run. */
  readonly previous: boolean;
}

export interface Finding {
  readonly severity: Severity;
  /** The fault in one line, without the name of the object. */
  readonly says: string;
  /** Facts that show it, a line each. */
  readonly evidence?: readonly string[];
  /** The smallest changes that mend it: commands of `ctl` without its name, or sentences. */
  readonly mend?: readonly Mend[];
  /** Objects that are the reason; the first of them with a finding of its own continues the chain. */
  readonly because?: readonly ObjectRef[];
  readonly log?: LogQuestion;
}

/** One of several changes, of which one is enough. `command` lacks `minik8s ctl`. */
export type Mend = { readonly command: string; readonly about?: string } | { readonly advice: string };

export interface Rule {
  readonly kinds: readonly KindKey[];
  /** The visible effect, its cause and the remedy, as sentences for the documentation. */
  readonly symptom: string;
  readonly cause: string;
  readonly advice: string;
  /** Returns the finding; undefined if the cause is another one, or the object is in its desired state. */
  find(object: JsonObject, seen: Snapshot): Finding | undefined;
}

/** Rules by name, in the order in which they are tried. */
export type Rules = Readonly<Record<string, Rule>>;
