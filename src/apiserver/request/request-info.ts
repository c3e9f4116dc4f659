/**
 * Parses the resource that a URL addresses, without reference to any kind:
 * `/api/v1/namespaces/default/pods/web/log` is group '', version v1, namespace default, resource pods, name
 * web, subresource log (k8s.io/apiserver endpoints/request).
 */
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';

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
  /**
   * Rest of the path after the subresource, as it stands in the URL: '' or with its leading slash (`proxy`
   * paths).
   */
  readonly rest: string;
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

/**
 * Returns whether the first and the third segment after the version, as they stand in the URL, address a
 * resource in a namespace.
 */
function addressesNamespace(first: string, third: string): boolean {
  return (
    decodeSegment(first) === 'namespaces' && third !== '' && !namespaceSubresources.has(decodeSegment(third))
  );
}

/** Returns '' past the end of the list. */
const at = (list: readonly string[], index: number) => list[index] ?? '';

/** Number of path segments before the version, by first segment. */
const roots = new Map([
  ['api', 1],
  ['apis', 2],
]);

/** Parses the path of a URL (still percent-encoded). Throws a 400 for broken percent-encoding. */
export function parseRequestInfo(path: string): RequestInfo {
  const segments = path.split('/').slice(1);
  const before = roots.get(decodeSegment(at(segments, 0)));
  if (before === undefined) return { type: 'path', path };
  const inNamespace = addressesNamespace(at(segments, before + 1), at(segments, before + 3));
  const end = before + (inNamespace ? 6 : 4);
  const encoded = segments.slice(0, end);
  const rest = segments
    .slice(end)
    .map((segment) => `/${segment}`)
    .join('');
  if (rest === '' && encoded.at(-1) === '') encoded.pop();
  // An empty namespace must not turn into all namespaces.
  if (encoded.includes('')) return { type: 'path', path };
  const decoded = encoded.map(decodeSegment);
  const group = before === 1 ? '' : at(decoded, 1);
  const version = at(decoded, before);
  const namespace = inNamespace ? at(decoded, before + 2) : '';
  const first = before + (inNamespace ? 3 : 1);
  const plural = at(decoded, first);
  if (plural === '') return { type: 'path', path };
  const [name, subresource] = [at(decoded, first + 1), at(decoded, first + 2)];
  return { type: 'resource', group, version, namespace, plural, name, subresource, rest };
}

/**
 * Parses a URL without decoding its path: percent-encoding distinguishes a slash within a name from a
 * separator. Throws a 400 for an invalid URL.
 */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw newStatusError('BadRequest', 'the URL of the request cannot be read');
  return url;
}
