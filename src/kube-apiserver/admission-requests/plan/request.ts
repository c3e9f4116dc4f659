/**
 * Request as webhooks and policies see it. Names of groups, versions, resources and kinds are those of the
 * client's address.
 */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Labels } from '../../../apimachinery/labels.ts';
import type { UserInfo } from '../../../apiserver/request/user.ts';

export type Operation = 'CONNECT' | 'CREATE' | 'DELETE' | 'UPDATE';

/** A group, version and resource, with the kind of the objects that are sent for it. */
export interface Address {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

export interface HookedRequest {
  readonly operation: Operation;
  readonly address: Address;
  readonly subresource: string;
  /** Other addresses of the same stored objects. */
  readonly equivalents: readonly Address[];
  readonly name: string;
  /** Namespace of the object. A Namespace has its own name here, any other object outside namespaces ''. */
  readonly namespace: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, …; absent if the request has none. */
  readonly options?: JsonObject | undefined;
  /** Labels of the object, or undefined if the request has no object. */
  readonly labels: Labels | undefined;
  /** Labels of the stored object, or undefined if there is none. */
  readonly oldLabels: Labels | undefined;
}

export const isNamespace = ({ group, resource }: Pick<Address, 'group' | 'resource'>) =>
  group === '' && resource === 'namespaces';
