/** The definition of a kind, in one value for the server, the client and the printers. */
import type { Findings } from './decode-fields.ts';
import type { DescribedTypes } from './described-types.ts';
import type { JsonObject } from './equality.ts';
import type { ObjectType } from './field-types.ts';
import type { KubeObject } from './meta.ts';
import type { StatusCause } from './status-error.ts';
import type { Steps } from './steps.ts';
import type { RulesByType } from './type-rules.ts';

/** The address of a kind, as a client needs it. The type parameter is the object's shape. */
export interface ResourceRef<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Part of each object that a client requests; default: the whole object. */
  readonly part?: 'metadata';
  /** Carries the type T; never set. */
  readonly type?: T;
}

export type Cell = string | number | boolean;

/** A column of `kubectl get` (meta.k8s.io/v1 TableColumnDefinition and the function that fills it). */
export interface Column<T extends KubeObject> {
  readonly name: string;
  /** One of `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string;
  /** `name` for the column of names. */
  readonly format?: string;
  /** 0 is always shown, greater numbers only with `-o wide`. */
  readonly priority?: number;
  readonly description: string;
  /** Returns the cell's value; `now` is in milliseconds and is used for ages. */
  cell(object: T, now: number): Cell | null;
}

/** A condition by which clients hide rows in some views. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Author, time and target of a write. */
export interface WriteContext {
  readonly user: {
    readonly name: string;
    readonly groups: readonly string[];
    readonly uid?: string | undefined;
    readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  };
  /** Time of the write (RFC 3339). */
  readonly now: string;
  /** Name of the subresource; empty for the object itself. */
  readonly subresource: string;
}

/** Rules of a subresource other than status: everything that it does not take over stays as stored. */
export interface PartRules<T extends KubeObject> {
  /**
   * Copies fields from `wanted`, the requested object, into `kept`, a copy of the stored object that becomes
   * the new one.
   */
  take(kept: T, wanted: T): void;
  /** True if a change counts in `metadata.generation`. */
  readonly countsGeneration?: boolean;
  validate?(object: T, old: T): StatusCause[];
}

/**
 * The rules that a kind applies before its objects are stored. Functions that prepare mutate their first
 * argument.
 */
export interface Strategy<T extends KubeObject> {
  /** Sets defaults that depend on other fields; constant defaults are in the rules. Idempotent. */
  setDefaults?(object: T): void;
  /**
   * Clears fields that a creator must not set, and sets fields that only the server sets. The server clears
   * the status when the kind has `/status`.
   */
  prepareForCreate?(object: T, context: WriteContext): void;
  /** Restores fields that an update must not change. The server restores the status. */
  prepareForUpdate?(object: T, old: T, context: WriteContext): void;
  /** Restores fields that a status update must not change. The server restores the specification. */
  prepareForStatusUpdate?(object: T, old: T, context: WriteContext): void;
  validate?(object: T): StatusCause[];
  /**
   * Validates in addition to `validate` what may take longer than a turn of the event loop, such as the
   * schemas of a definition.
   */
  validateInSteps?(object: T): Steps<StatusCause[]>;
  /** Called after `validate` on creation, for fields that were added later. */
  validateCreate?(object: T): StatusCause[];
  /** Called after `validate` on update, for immutable fields. */
  validateUpdate?(object: T, old: T): StatusCause[];
  /** Validates a status update; `subresource` is the subresource of the request, such as `status`. */
  validateStatus?(object: T, old: T, subresource: string): StatusCause[];
  /** Rules of further subresources, by name. */
  readonly parts?: Readonly<Record<string, PartRules<T>>>;
  /**
   * Paths that a write never changes, so that the writer does not become their owner; by subresource, '' for
   * the object itself. Default: the status for the object, everything else for the status.
   */
  readonly resetFields?: Readonly<Record<string, readonly string[]>>;
  /**
   * Returns warnings for the author of an accepted object, one `Warning` header each; `old` is undefined for
   * a new object.
   */
  warnings?(object: T, old: T | undefined): string[];
  /** True if a creation may set the status, too (upstream: nodes). */
  keepsStatusOnCreate?: boolean;
  /** True if `metadata.generation` counts changes of everything but metadata and status. */
  readonly countsGenerations: boolean;
  /** Returns the reasons why a name is rejected (names.ts); default: a DNS-1123 subdomain. */
  checkName?(name: string): string[];
  /** Returns finalizers outside the metadata, which block the object's removal, too. */
  otherFinalizers?(object: T): readonly string[];
  /** Changes the object when its deletion begins. */
  beginDeletion?(object: T): void;
  /**
   * Returns the seconds between a delete and the removal, when an agent must stop something first (pods);
   * default 0.
   */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** An update must name the version that it is based on (upstream: AllowUnconditionalUpdate is false). */
  readonly updatesNameVersion?: true;
  /** PUT creates an object that does not exist (upstream: AllowCreateOnUpdate). */
  readonly createsOnUpdate?: true;
  /**
   * Dependents stay by default when the object is deleted (upstream: kinds older than the garbage collector).
   */
  readonly orphansByDefault?: true;
}

/**
 * Reads a selectable field. It has the type of a method, so that a table of all kinds can hold every kind's
 * getters.
 */
export type FieldGetter<T> = { get(object: T): string }['get'];

/** Accessors for the fields behind `/scale`. */
export interface ScaleMapping<T extends KubeObject> {
  getReplicas(object: T): number;
  setReplicas(object: T, replicas: number): void;
  statusReplicas(object: T): number;
  /** Returns the selector in its string form. */
  selector(object: T): string;
}

export interface ResourceDefinition<T extends KubeObject = KubeObject> extends ResourceRef<T> {
  readonly singular: string;
  /** Kind of lists; default: the kind with `List` appended. */
  readonly listKind?: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /**
   * Name of the type in the table of Kubernetes' types, such as `core.v1.Pod`; for a minik8s kind, the kind.
   */
  readonly typeName: string;
  /** Rules that minik8s adds to the types of the kind. */
  readonly rules?: RulesByType;
  /** Types of a minik8s kind, which Kubernetes' table does not have. Each kind has an object of its own. */
  readonly types?: DescribedTypes;
  /** Fields of a kind that was added while the server runs. */
  readonly objectType?: ObjectType;
  readonly strategy: Strategy<T>;
  /** True if the kind has a `/status` subresource; its main endpoint then ignores status. */
  readonly hasStatus: boolean;
  /**
   * Returns a stored object as it is read now, because it may have been stored under an earlier definition of
   * its kind; absent if stored objects are read unchanged. Must not change its argument.
   */
  fromStorage?(object: T): T;
  /**
   * Reads the fields of a body, for a kind whose schema is data: returns a copy with the fields of the schema
   * and their defaults, and adds the paths of other fields to `findings`. Values of wrong types are left to
   * `versionRules`. Absent for kinds whose types have rules (decode-fields.ts).
   */
  readFields?(value: JsonObject, findings: Pick<Findings, 'unknown'>): JsonObject;
  /** Rules of this served version alone. */
  readonly versionRules?: VersionRules<T>;
  /** Present in a version that is served in addition to the stored one (served-version.ts). */
  readonly conversion?: Conversion<T>;
  /**
   * Present if a program converts objects between the versions of the kind; the same object in all of them.
   * Each version is then prepared, validated and answered as a kind of its own, and only reading from the
   * store and writing to it convert.
   */
  readonly versions?: ConvertedVersions;
  /** The object is created to be answered and is never stored: only POST is served. */
  readonly isReview?: true;
  /** The object is computed from measurements for each request and is never stored: only GET is served. */
  readonly isMeasured?: true;
  /** Warning for users of a deprecated kind or version. */
  readonly deprecation?: string;
  readonly columns: readonly Column<T>[];
  /** Returns the row's conditions (meta.k8s.io/v1 TableRowCondition); undefined for none. */
  rowConditions?(object: T): readonly RowCondition[] | undefined;
  /** Field selectors in addition to metadata.name and metadata.namespace. */
  readonly selectableFields: Readonly<Record<string, FieldGetter<T>>>;
  /** Selectable fields by which many clients each select a few objects; they are indexed. */
  readonly indexedFields?: readonly string[];
  readonly scale?: ScaleMapping<T>;
  /** The response to a finished DELETE: the object itself or a Status. */
  readonly deleteAnswers: 'object' | 'status';
}

/** Rules for objects that were written in one served version; the objects are in the stored version. */
export interface VersionRules<T extends KubeObject> {
  /** Returns problems of a new object, or of an update of `old`, also of its status, in steps. */
  validate(object: T, old: T | undefined): Steps<StatusCause[]>;
}

/**
 * Conversion of objects between a served version and the stored one. The type parameter is the stored shape.
 * Neither function changes its argument; the results may share parts with it.
 */
export interface Conversion<T extends KubeObject> {
  readonly stored: ResourceDefinition<T>;
  /** Converts an object that was decoded in the served version. */
  toStored(object: KubeObject): T;
  fromStored(object: T): KubeObject;
  /**
   * Returns problems of a new object in this version alone; called in addition to the strategy's `validate`.
   */
  validate?(object: T): StatusCause[];
  /**
   * Returns problems of an update in this version alone; called in addition to the strategy's
   * `validateUpdate`.
   */
  validateUpdate?(object: T, old: T): StatusCause[];
}

/** The versions of a kind whose objects a program converts. Rejections are StatusErrors. */
export interface ConvertedVersions {
  /** The apiVersion in which objects are stored; it need not be served. */
  readonly stored: string;
  /** The served apiVersion in which the server itself reads the objects: the stored one if it is served. */
  readonly main: string;
  /** True if all stored objects are in the stored version, with all of its defaults. */
  readonly areComplete: boolean;
  /**
   * Resolves to stored objects as they are read in a version, in the same order. The results may share parts
   * with the objects.
   */
  read(objects: readonly KubeObject[], apiVersion: string): Promise<readonly KubeObject[]>;
  /** Resolves to an object in another version. The result may share parts with the object. */
  convert(object: KubeObject, apiVersion: string): Promise<KubeObject>;
}

/** Returns the definition under which objects are stored. */
export const storedKind = (definition: ResourceDefinition): ResourceDefinition =>
  definition.conversion?.stored ?? definition;

/** Returns whether the two are versions of one kind, which share their stored objects. */
export const isSameKind = (one: ResourceDefinition, other: ResourceDefinition): boolean =>
  storedKind(one) === storedKind(other) || (one.versions !== undefined && one.versions === other.versions);

/** Returns whether the definition is the one version of its kind in which the server itself reads objects. */
export const isMainVersion = (definition: ResourceDefinition): boolean =>
  definition.conversion === undefined &&
  (definition.versions === undefined || definition.versions.main === apiVersionOf(definition));

/**
 * Returns the key under which the store keeps an object: `/registry/<plural>[.<group>]/[<namespace>/]<name>`.
 */
export function storageKey(ref: ResourceRef, namespace: string, name: string): string {
  return `${storagePrefix(ref, namespace)}${name}`;
}

/** Returns the prefix of all objects of a kind, or of those in one namespace; it ends with `/`. */
export function storagePrefix(ref: ResourceRef, namespace = ''): string {
  const resource = ref.group ? `${ref.plural}.${ref.group}` : ref.plural;
  return namespace ? `/registry/${resource}/${namespace}/` : `/registry/${resource}/`;
}

export const apiVersionOf = (ref: Pick<ResourceRef, 'group' | 'version'>) =>
  ref.group ? `${ref.group}/${ref.version}` : ref.version;
