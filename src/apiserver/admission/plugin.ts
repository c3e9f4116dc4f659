/** The contract of an admission plugin. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { ServerContext } from '../server-context.ts';
import type { UserInfo } from '../user.ts';

export interface Admission {
  readonly operation: 'create' | 'update' | 'delete';
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: UserInfo;
  /** The object as it would be stored; plugins may change it. Absent for a delete. */
  readonly object?: KubeObject;
  /** As it is stored. Absent for a create. */
  readonly old?: KubeObject;
}

/** Throws a StatusError to refuse. */
export type AdmissionPlugin = (server: ServerContext, admission: Admission) => void | Promise<void>;
