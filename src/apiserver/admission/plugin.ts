/** The contract of an admission plugin. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { UserInfo } from '../request/user.ts';

export interface Admission {
  readonly operation: 'create' | 'update' | 'delete';
  readonly definition: ResourceDefinition;
  /** The version of the request; default: the stored one. */
  readonly served?: ResourceDefinition;
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
}

/** An admission plugin. `mutate` and `validate` throw a StatusError to reject the request. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * May change the object, which has its defaults and is not validated yet. Fields that the writer may not
   * set still have the values that were sent.
   */
  mutate?(admission: Admission): void | Promise<void>;
  /**
   * Checks the object as it will be stored, except for the values that the server allocates; must not change
   * it.
   */
  validate?(admission: Admission): void | Promise<void>;
  /**
   * Called when a create or update that this plugin admitted is certain not to be stored: its name or another
   * claim was taken, or another writer was faster. A retry of an update is a new admission. Also called for a
   * create that is a dry run. Must not throw.
   */
  notStored?(admission: Admission): void;
}
