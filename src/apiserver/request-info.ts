/**
 * What a URL addresses, read without knowing any kind: `/api/v1/namespaces/default/pods/web/log` is group '',
 * version v1, namespace default, pods, web, subresource log (k8s.io/apiserver endpoints/request).
 */
import { newBadRequest } from '../apimachinery/status-error.ts';

export interface ResourceRequest {
  readonly type: 'resource';
  readonly group: string;
  readonly version: string;
  /** '' for cluster-scoped objects and for all namespaces. */
  readonly namespace: string;
  readonly plural: string;
  /** '' for the collection. */
  readonly name: string;
  readonly subresource: string;
  /** What follows the subresource, as it stands in the URL (`proxy` paths). */
  readonly rest: readonly string[];
}

export interface PathRequest {
  readonly type: 'path';
  readonly path: string;
}

export type RequestInfo = ResourceRequest | PathRequest;

/** Subresources of Namespace itself; every other third segment is a kind inside the namespace. */
const namespaceSubresources = new Set(['status', 'finalize']);

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw newBadRequest(`the path segment ${JSON.stringify(segment)} is not valid percent-encoding`);
  }
}

/** The segments after the version, `['namespaces', 'default', 'pods', …]`, as a request for a resource. */
function resourceRequest(group: string, version: string, parts: readonly string[]): ResourceRequest {
  const inNamespace =
    parts[0] === 'namespaces' && parts.length > 2 && !namespaceSubresources.has(parts[2] ?? '');
  const namespace = inNamespace ? (parts[1] ?? '') : '';
  const [plural = '', name = '', subresource = '', ...rest] = inNamespace ? parts.slice(2) : parts;
  return { type: 'resource', group, version, namespace, plural, name, subresource, rest };
}

/** Reads the path of a URL (still percent-encoded). Throws a 400 for broken percent-encoding. */
export function parseRequestInfo(path: string): RequestInfo {
  const encoded = path.split('/').slice(1);
  if (encoded.at(-1) === '') encoded.pop();
  // An empty namespace must not turn into all namespaces.
  if (encoded.includes('')) return { type: 'path', path };
  const [root, ...parts] = encoded.map(decodeSegment);
  const [first = '', second = '', ...rest] = parts;
  if (root === 'api' && parts.length > 1 && second) return resourceRequest('', first, parts.slice(1));
  if (root === 'apis' && rest.length > 0 && rest[0]) return resourceRequest(first, second, rest);
  return { type: 'path', path };
}
