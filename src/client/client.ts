/** The typed REST client that controllers, the node agent and tests use. Failures reject with StatusError. */
import type { Draft, KubeList, KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';

export interface ClientListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  /** Ends the request, and the wait before it is made again. */
  readonly signal?: AbortSignal;
}

export interface ClientWatchOptions extends Omit<ClientListOptions, 'limit' | 'continue'> {
  readonly timeoutSeconds?: number;
  readonly signal: AbortSignal;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Only metadata.resourceVersion is set. */
  | { readonly type: 'BOOKMARK'; readonly object: T };

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

export type PatchType = 'json' | 'merge' | 'strategic';

export interface ResourceClient<T extends KubeObject> {
  get(name: string, namespace?: string): Promise<T>;
  list(options?: ClientListOptions): Promise<KubeList<T>>;
  /** Ends when the server's timeout is over; throws StatusError (isExpired) when history is gone. */
  watch(options: ClientWatchOptions): AsyncIterable<WatchEvent<T>>;
  /** The namespace is taken from the object's metadata. */
  create(object: Draft<T>): Promise<T>;
  update(object: T): Promise<T>;
  updateStatus(object: T): Promise<T>;
  /** PUT to a subresource that takes the whole object, such as a namespace's `finalize`. */
  updateSubresource(object: T, subresource: string): Promise<T>;
  patch(name: string, namespace: string, type: PatchType, body: unknown, subresource?: string): Promise<T>;
  delete(name: string, namespace?: string, options?: DeleteOptions): Promise<void>;
  /** POST to a subresource, such as a pod's `binding`. */
  createSubresource(name: string, namespace: string, subresource: string, body: unknown): Promise<unknown>;
}

export interface Client {
  resource<T extends KubeObject>(ref: ResourceRef<T>): ResourceClient<T>;
}
