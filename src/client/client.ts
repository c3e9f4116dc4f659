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
  /** Aborts the request and the wait before a retry. */
  readonly signal?: AbortSignal;
}

export interface ClientWatchOptions extends Omit<ClientListOptions, 'limit' | 'continue'> {
  readonly timeoutSeconds?: number;
  readonly signal: AbortSignal;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** An event with only metadata.resourceVersion set. */
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
  /**
   * Returns the events until the server's timeout. Throws StatusError (isExpired) when the history is gone.
   */
  watch(options: ClientWatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Creates an object in the namespace of its metadata. */
  create(object: Draft<T>): Promise<T>;
  update(object: T): Promise<T>;
  updateStatus(object: T): Promise<T>;
  /** Sends a PUT to a subresource that takes the whole object, such as a namespace's `finalize`. */
  updateSubresource(object: T, subresource: string): Promise<T>;
  patch(name: string, namespace: string, type: PatchType, body: unknown, subresource?: string): Promise<T>;
  delete(name: string, namespace?: string, options?: DeleteOptions): Promise<void>;
  /** Sends a POST to a subresource, such as a pod's `binding`. */
  createSubresource(name: string, namespace: string, subresource: string, body: unknown): Promise<unknown>;
}

export interface Client {
  resource<T extends KubeObject>(ref: ResourceRef<T>): ResourceClient<T>;
}
