/** Contract of a describer, which formats the objects of one kind. */
import type { JsonObject } from '../../apimachinery/equality.ts';

/** An object, or a collection of objects, that a description mentions. */
export interface Need {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for a cluster-scoped kind, and for the objects of all namespaces. */
  readonly namespace: string;
  /** Name of a single object; absent for a collection. */
  readonly name?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Reads the table that the server prints of the object, not the object itself. */
  readonly asTable?: true;
}

/** Samples of a page of metrics with these labels: objects with `name`, `labels` and `value`. */
export interface SamplesNeed {
  readonly metrics: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The objects that were found, or the reason why the user may not or cannot read them. */
export interface Found {
  readonly items: readonly JsonObject[];
  readonly refused?: string;
}

/** The related objects, by the names that `needs` has given them. */
export type Related = (name: string) => Found;

export interface Describer {
  /** Version that the object is read in, where the description needs one: `autoscaling/v2`. */
  readonly apiVersion?: string;
  /** Related objects by a name for `lines`, such as `pods`. */
  needs?(object: JsonObject): Readonly<Record<string, Need | SamplesNeed>>;
  /** Returns lines in which a tab ends a cell; describe-object.ts aligns the cells. */
  lines(object: JsonObject, related: Related, now: number): readonly string[];
  /** True if a description of the kind has no list of events. */
  readonly withoutEvents?: true;
}
