/** What a request to the agent's server asks for, as a question that roles answer (pkg/kubelet/server/auth.go). Pure. */

export interface RequestAttributes {
  readonly verb: string;
  /** Of the Node: to be allowed one of them is enough. */
  readonly subresources: readonly string[];
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Some are a part of what `proxy` allows, so that a client need not be allowed all of it. */
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
 * `isUpgrade`: the connection leaves HTTP, which is how programs are run in pods. A WebSocket begins with
 * GET, and must not be for who may only read.
 */
export function requestAttributes(method: string, path: string, isUpgrade = false): RequestAttributes {
  const part = parts.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return {
    verb: isUpgrade ? 'create' : Object.hasOwn(verbs, method) ? (verbs[method] ?? '') : '',
    subresources: part?.[1] ?? ['proxy'],
  };
}
