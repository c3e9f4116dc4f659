/**
 * Implements client.ts over any transport. A failed request rejects with the server's StatusError, a failed
 * connection with TransportError. A watch whose signal aborts ends without an error.
 */
import type { KubeList, KubeObject } from '../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../apimachinery/resource-definition.ts';
import { onAbort } from '../base/abort.ts';
import type { Client, ClientWatchOptions, PatchType, ResourceClient, WatchEvent } from './client.ts';
import { createRequester, type Requester, type RetryOptions } from './requester.ts';
import { collectionPath, listQuery, objectPath, query } from './resource-path.ts';
import type { ApiRequest, Transport } from './transport.ts';
import { watchEvents } from './watch-stream.ts';

export function createClient(transport: Transport, retry: RetryOptions = {}): Client {
  const requester = createRequester(transport, retry);
  return { resource: (ref) => resourceClient(requester, ref) };
}

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const accept = { accept: 'application/json' };
/** PartialObjectMetadata: metadata alone, which the server can return for every kind. */
const acceptMetadata = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
const acceptOf = ({ part }: ResourceRef) => (part === 'metadata' ? acceptMetadata : accept);
/**
 * Header for lists and watches, which feed caches: caches do not need managedFields, which make up half of
 * many objects. Servers that do not support the parameter send them.
 */
const acceptUnowned = (ref: ResourceRef) => {
  const { accept: type } = acceptOf(ref);
  return { accept: `${type};managedFields=none,${type}` };
};

const write = (method: ApiRequest['method'], path: string, body: unknown, type = 'application/json') => ({
  method,
  path,
  headers: { ...accept, 'content-type': type },
  body: JSON.stringify(body),
});

function resourceClient<T extends KubeObject>(requester: Requester, ref: ResourceRef<T>): ResourceClient<T> {
  const send = async (request: ApiRequest) => (await requester.json(request)) as T;
  const put = async (object: T, subresource = '') => {
    const { name, namespace } = object.metadata;
    return send(write('PUT', objectPath(ref, name, namespace, subresource), object));
  };
  return {
    get: async (name, namespace) =>
      send({ method: 'GET', path: objectPath(ref, name, namespace), headers: acceptOf(ref) }),

    async list(options = {}) {
      const path = collectionPath(ref, options.namespace) + listQuery(options);
      const { signal } = options;
      const list = await requester.json({
        method: 'GET',
        path,
        headers: acceptUnowned(ref),
        ...(signal && { signal }),
      });
      return withTypes(ref, list as KubeList<T>);
    },

    watch: (options) => watch(requester, ref, options),

    async create(object) {
      const { namespace } = object.metadata;
      if (ref.namespaced && !namespace) {
        throw new Error(`${ref.plural} "${object.metadata.name ?? ''}": metadata.namespace is missing`);
      }
      return send(write('POST', collectionPath(ref, namespace), object));
    },

    update: (object) => put(object),

    updateStatus: (object) => put(object, 'status'),

    updateSubresource: (object, subresource) => put(object, subresource),

    patch: async (name, namespace, type, body, subresource) =>
      send(write('PATCH', objectPath(ref, name, namespace, subresource), body, patchContentTypes[type])),

    async delete(name, namespace, options) {
      const path = objectPath(ref, name, namespace);
      const request: ApiRequest = { method: 'DELETE', path, headers: accept };
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...options };
      await requester.json(options ? write('DELETE', path, body) : request);
    },

    createSubresource: async (name, namespace, subresource, body) =>
      requester.json(write('POST', objectPath(ref, name, namespace, subresource), body)),
  };
}

/** Fills in apiVersion and kind of the items: upstream omits them in the items of a typed list. */
function withTypes<T extends KubeObject>(ref: ResourceRef<T>, list: KubeList<T>): KubeList<T> {
  if (!Array.isArray(list?.items)) throw new Error(`the list of ${ref.plural} has no items`);
  for (const item of list.items) {
    item.apiVersion ||= apiVersionOf(ref);
    item.kind ||= ref.kind;
  }
  return list;
}

async function* watch<T extends KubeObject>(
  requester: Requester,
  ref: ResourceRef<T>,
  options: ClientWatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { signal } = options;
  if (signal.aborted) return;
  const path =
    collectionPath(ref, options.namespace) +
    query({
      watch: 1,
      allowWatchBookmarks: true,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
    });
  // The stream also ends when its reader stops, not only when the caller's signal aborts.
  const abort = new AbortController();
  const unlink = onAbort(signal, () => abort.abort(signal.reason));
  try {
    const response = await requester.open({
      method: 'GET',
      path,
      headers: acceptUnowned(ref),
      signal: abort.signal,
    });
    yield* watchEvents<T>(response.body, `GET ${path}`);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    unlink();
    abort.abort(new DOMException('the watch is over', 'AbortError'));
  }
}
