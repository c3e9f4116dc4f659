/** One kind, in one value: everything the server, the client and the printers know of it. */
import type { GenericSchema } from 'valibot';
import type { ObjectType } from './field-types.ts';
import type { KubeObject } from './meta.ts';
import type { StatusCause } from './status-error.ts';
import type { RulesByType } from './type-rules.ts';

/** What a client needs to address a kind. The type parameter is the object's shape. */
export interface ResourceRef<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** What a client asks for of each object; default all of it. */
  readonly part?: 'metadata';
  /** Carries T; never set. */
  readonly type?: T;
}

export type Cell = string | number | boolean;

/** A column of `kubectl get` (meta.k8s.io/v1 TableColumnDefinition and the function that fills it). */
export interface Column<T extends KubeObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly format?: 'name';
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: 0 | 1;
  readonly description: string;
  /** `now` in milliseconds, for ages. */
  cell(object: T, now: number): Cell;
}

/** By which clients leave rows out of some views. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Who writes an object, when, and how. */
export interface WriteContext {
  readonly user: {
    readonly name: string;
    readonly groups: readonly string[];
    readonly uid?: string | undefined;
    readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  };
  /** RFC 3339. */
  readonly now: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** What a subresource of the kind may change beside the status: all that it does not take over stays as it is stored. */
export interface PartRules<T extends KubeObject> {
  /** `kept` is a copy of the stored object, and becomes the new one; `wanted` is what was asked for. */
  take(kept: T, wanted: T): void;
  /** A change counts in `metadata.generation`. */
  readonly countsGeneration?: boolean;
  validate?(object: T, old: T): StatusCause[];
}

/** The rules of a kind on its way into the store. Functions that prepare mutate their first argument. */
export interface Strategy<T extends KubeObject> {
  /** Defaults that depend on other fields; constant ones stand in the schema. Idempotent. */
  setDefaults?(object: T): void;
  /** Clears what a creator may not set, and sets what only the server may. Status is cleared by the server when the kind has `/status`. */
  prepareForCreate?(object: T, context: WriteContext): void;
  /** Restores what an update may not change. Status is restored by the server. */
  prepareForUpdate?(object: T, old: T, context: WriteContext): void;
  /** Restores what a write of the status may not change beside the specification, which the server restores. */
  prepareForStatusUpdate?(object: T, old: T, context: WriteContext): void;
  validate?(object: T): StatusCause[];
  /** Called besides `validate`, for fields that come later. */
  validateCreate?(object: T): StatusCause[];
  /** Called besides `validate`, for fields that are immutable. */
  validateUpdate?(object: T, old: T): StatusCause[];
  /** For a write of the status; says which subresource it came by, such as `status`. */
  validateStatus?(object: T, old: T, subresource: string): StatusCause[];
  /** By the name of the subresource. */
  readonly parts?: Readonly<Record<string, PartRules<T>>>;
  /**
   * Paths that a write never changes, so that nobody owns them by it; by the subresource, '' for the object itself. Default: of the
   * object its status, of the status the rest.
   */
  readonly resetFields?: Readonly<Record<string, readonly string[]>>;
  /** Told to the writer of an object that is accepted, one `Warning` header each; `old` is missing for a new one. */
  warnings?(object: T, old: T | undefined): string[];
  /** A creator may give the status too (upstream: nodes). */
  keepsStatusOnCreate?: boolean;
  /** `metadata.generation` counts changes of everything but metadata and status. */
  readonly countsGenerations: boolean;
  /** Reasons why a name is refused (names.ts); default: a DNS-1123 subdomain. */
  checkName?(name: string): string[];
  /** Finalizers that stand elsewhere than in the metadata: they hold the object as well. */
  otherFinalizers?(object: T): readonly string[];
  /** Changes the object when its deletion begins. */
  beginDeletion?(object: T): void;
  /** Seconds between a delete and the removal, when an agent must stop something first (pods); default 0. */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** An update must say which version it was made from (upstream: AllowUnconditionalUpdate is false). */
  readonly updatesNameVersion?: true;
  /** PUT makes an object that is not there (upstream: AllowCreateOnUpdate). */
  readonly createsOnUpdate?: true;
  /** What it owns stays when a delete does not say otherwise (upstream: kinds older than the garbage collector). */
  readonly orphansByDefault?: true;
}

/** Reads a selectable field. A method's type, so that a table of all kinds can hold every kind's getters. */
export type FieldGetter<T> = { get(object: T): string }['get'];

/** Where `/scale` finds its numbers. */
export interface ScaleMapping<T extends KubeObject> {
  getReplicas(object: T): number;
  setReplicas(object: T, replicas: number): void;
  statusReplicas(object: T): number;
  /** The selector in its string form. */
  selector(object: T): string;
}

export interface ResourceDefinition<T extends KubeObject = KubeObject> extends ResourceRef<T> {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Name of the type in the table of Kubernetes' types, such as `core.v1.Pod`; for a kind of our own, the kind. */
  readonly typeName: string;
  /** What minik8s adds to the types that the kind is made of. */
  readonly rules?: RulesByType;
  /** The fields of a kind of our own. */
  readonly schema?: GenericSchema<unknown, T>;
  /** The fields of a kind that was made while the server runs. */
  readonly objectType?: ObjectType;
  readonly strategy: Strategy<T>;
  /** Has a `/status` subresource, and its main endpoint ignores status. */
  readonly hasStatus: boolean;
  /** Present in a version that is served beside the stored one (served-version.ts). */
  readonly conversion?: Conversion<T>;
  /** Created to be answered and never stored: POST is all that is served. */
  readonly isReview?: true;
  /** Made when somebody asks, of what is measured then, and never stored: GET is all that is served. */
  readonly isMeasured?: true;
  /** A warning to whoever reads a measured kind that is not to be used any more. */
  readonly deprecation?: string;
  readonly columns: readonly Column<T>[];
  /** meta.k8s.io/v1 TableRowCondition; undefined for none. */
  rowConditions?(object: T): readonly RowCondition[] | undefined;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields: Readonly<Record<string, FieldGetter<T>>>;
  /** Those of them by which many clients each select a few objects. */
  readonly indexedFields?: readonly string[];
  readonly scale?: ScaleMapping<T>;
  /** What a finished DELETE answers: the object itself or a Status. */
  readonly deleteAnswers: 'object' | 'status';
}

/**
 * How the objects of a served version become those that are stored, and back. The type parameter is the stored shape.
 * Neither function changes its argument; what they return may share parts with it.
 */
export interface Conversion<T extends KubeObject> {
  readonly stored: ResourceDefinition<T>;
  /** Of an object that was decoded in the served version. */
  toStored(object: KubeObject): T;
  fromStored(object: T): KubeObject;
  /** What is wrong with a new object in this version alone; beside the strategy's `validate`. */
  validate?(object: T): StatusCause[];
  /** The same for an update; beside the strategy's `validateUpdate`. */
  validateUpdate?(object: T, old: T): StatusCause[];
}

/** The definition under which objects are stored. */
export const storedKind = (definition: ResourceDefinition): ResourceDefinition =>
  definition.conversion?.stored ?? definition;

/** The key under which the store keeps an object: `/registry/<plural>[.<group>]/[<namespace>/]<name>`. */
export function storageKey(ref: ResourceRef, namespace: string, name: string): string {
  return `${storagePrefix(ref, namespace)}${name}`;
}

/** The prefix of all objects of a kind, or of those in one namespace; ends with `/`. */
export function storagePrefix(ref: ResourceRef, namespace = ''): string {
  const resource = ref.group ? `${ref.plural}.${ref.group}` : ref.plural;
  return namespace ? `/registry/${resource}/${namespace}/` : `/registry/${resource}/`;
}

export const apiVersionOf = (ref: Pick<ResourceRef, 'group' | 'version'>) =>
  ref.group ? `${ref.group}/${ref.version}` : ref.version;
