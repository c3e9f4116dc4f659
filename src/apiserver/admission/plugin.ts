/** The contract of an admission plugin. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Aside } from '../load/shed.ts';
import type { DeletionOptions } from '../registry/deletion.ts';
import type { UserInfo } from '../request/user.ts';

export interface Admission {
  readonly operation: 'create' | 'update' | 'delete';
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: UserInfo;
  /** Adds a Warning header to the answer. Absent if no client could read it. */
  readonly warn?: (text: string) => void;
  /** True if the request is a dry run: nothing is written. */
  readonly dryRun?: boolean;
  /** The object as it would be stored; plugins may change it. Absent for a delete. */
  readonly object?: KubeObject;
  /** The stored object. Absent for a create. */
  readonly old?: KubeObject;
  /** The version in which the client addressed the kind; default: the stored version. */
  readonly served?: ResourceDefinition;
  /** Manager of the fields that the write sets. Absent for a delete. */
  readonly fieldManager?: string;
  /** Options of a delete. */
  readonly deletion?: DeletionOptions;
  /** Present if the client sees and sends objects of another kind, such as a Scale. */
  readonly view?: ObjectView;
  /**
   * True for a write that is a part of an admitted request, such as the removal of an evicted pod. Plugins
   * that call programs of users skip it.
   */
  readonly isStep?: boolean;
  /** Waits for programs of users. Absent if the request is not counted. */
  readonly aside?: Aside | undefined;
}

/** Another kind in which a subresource shows an object. */
export interface ObjectView {
  /** Returns the object in the kind of the subresource, with its apiVersion and kind. */
  show(object: KubeObject): JsonObject;
  /** Writes what the subresource may change from `shown` into the object. Throws a StatusError. */
  take(object: KubeObject, shown: JsonObject): void;
}

/**
 * Request whose body is not stored itself: a connection to a pod, an eviction, a binding.
 * `body` is the object that the client sends, with its apiVersion and kind; for a connection its options.
 */
export interface SubresourceRequest
  extends Pick<
    Admission,
    | 'aside'
    | 'definition'
    | 'dryRun'
    | 'fieldManager'
    | 'name'
    | 'namespace'
    | 'served'
    | 'subresource'
    | 'user'
    | 'warn'
  > {
  readonly operation: 'connect' | 'create';
  readonly body: JsonObject;
}

// biome-ignore lint/suspicious/noConfusingVoidType: plugins that return nothing are the rule.
export type Mutated = void | 'again';

/** An admission plugin. `mutate` and `validate` throw a StatusError to reject the request. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * May change the object, which has its defaults and is not validated yet. Fields that the writer may not
   * set still have the values that were sent. If a plugin returns `again`, all plugins mutate the object once
   * more; the second round is the last one.
   */
  mutate?(admission: Admission): Mutated | Promise<Mutated>;
  /**
   * Checks the object as it will be stored, except for the values that the server allocates; must not change
   * it.
   */
  validate?(admission: Admission): void | Promise<void>;
  /** Called before a request whose body is not stored itself. */
  review?(request: SubresourceRequest): Promise<void>;
  /**
   * Called when a create or update that this plugin admitted is certain not to be stored: its name or another
   * claim was taken, or another writer was faster. A retry of an update is a new admission. Also called for a
   * create that is a dry run. Must not throw.
   */
  notStored?(admission: Admission): void;
}
