/** The authorization attributes of a request to the agent's server (pkg/kubelet/server/auth.go). Pure. */

export interface RequestAttributes {
  readonly verb: string;
  /** Subresources of the Node; permission for one of them is sufficient. */
  readonly subresources: readonly string[];
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources that are parts of `proxy`, so that a client does not need permission for all of it. */
const parts: readonly (readonly [prefix: string, subresources: readonly string[]])[] = [
  ['/stats', ['stats']],
  ['/metrics', ['metrics']],
  ['/logs', ['log']],
  ['/checkpoint', ['checkpoint']],
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
];

/**
 * Returns the attributes. `isUpgrade` is true when the connection leaves HTTP, which is how programs are run
 * in pods. A WebSocket begins with GET, and must not be open to callers who may only read.
 */
export function requestAttributes(method: string, path: string, isUpgrade = false): RequestAttributes {
  const part = parts.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return {
    verb: isUpgrade ? 'create' : Object.hasOwn(verbs, method) ? (verbs[method] ?? '') : '',
    subresources: part?.[1] ?? ['proxy'],
  };
}
