/** The contract of an admission plugin. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { UserInfo } from '../user.ts';

export interface Admission {
  readonly operation: 'create' | 'update' | 'delete';
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: UserInfo;
  /** Tells the writer something in a Warning header. Absent where nobody could read it. */
  readonly warn?: (text: string) => void;
  /** Nothing will be written. */
  readonly dryRun?: boolean;
  /** The object as it would be stored; plugins may change it. Absent for a delete. */
  readonly object?: KubeObject;
  /** As it is stored. Absent for a create. */
  readonly old?: KubeObject;
}

/** Both functions throw a StatusError to refuse. */
export interface AdmissionPlugin {
  readonly name: string;
  /** May change the object, which has its defaults and is not checked yet. What the writer may not set is still as it was sent. */
  mutate?(admission: Admission): void | Promise<void>;
  /** Sees the object as it will be stored, but for what the server allocates; must not change it. */
  validate?(admission: Admission): void | Promise<void>;
  /**
   * What it let through, to be created or updated, surely is not stored: its name or something else was taken, or another writer was
   * faster. An update that is tried again is a new admission. A create is told of a dry run, too. Must not throw.
   */
  notStored?(admission: Admission): void;
}
