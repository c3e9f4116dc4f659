/** An object or a collection of objects, and its path in the API. */
import { collectionPath, objectPath, query } from '../../client/resource-path.ts';
import type { Manifest } from '../manifests/manifests.ts';
import type { ApiResource } from './discovery.ts';

export interface ObjectTarget {
  readonly resource: ApiResource;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
  readonly manifest?: Manifest;
}

export interface CollectionTarget {
  readonly resource: ApiResource;
  /** Empty for all namespaces, and for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name?: undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
}

export type Target = ObjectTarget | CollectionTarget;

export const targetPath = ({ resource, namespace, name }: ObjectTarget, subresource = '') =>
  objectPath(resource, name, namespace, subresource);

export const listPath = (
  { resource, namespace, labelSelector, fieldSelector }: CollectionTarget,
  options: Readonly<Record<string, string | number | boolean | undefined>> = {},
) => collectionPath(resource, namespace) + query({ labelSelector, fieldSelector, ...options });

/** Returns the collection that contains only this object, for a watch. */
export const collectionOf = ({ resource, namespace, name }: ObjectTarget): CollectionTarget => ({
  resource,
  namespace,
  labelSelector: undefined,
  fieldSelector: `metadata.name=${name}`,
});
