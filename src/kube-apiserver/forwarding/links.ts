/** Rewrites addresses in a backend's answer so that they lead through the proxy. Pure. */

export interface ProxiedPage {
  /**
   * The path under which the client reaches the backend's `/`, such as `/api/v1/namespaces/a/pods/web/proxy`.
   */
  readonly prefix: string;
  /** The host (and port) that the client addressed; '' if unknown. */
  readonly requestHost: string;
  /** Names and ports that the backend may use for itself. */
  readonly backendHosts: readonly string[];
}

/** RFC 3986 appendix B: scheme, authority, path, and the rest. */
const reference = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/s;

/**
 * Returns a link through the proxy. Absolute paths of the backend get the prefix. A link to another host, a
 * relative link, and a link that already has the prefix keep their paths. A host stays only if it is the
 * client's own name for the server.
 */
export function throughProxy(link: string, { prefix, requestHost, backendHosts }: ProxiedPage): string {
  const [, scheme, host, path = '', more = ''] = reference.exec(link) ?? [];
  if (!path.startsWith('/') || (scheme !== undefined && host === undefined)) return link;
  const isOwn = host !== '' && host === requestHost;
  if (host && !isOwn && !backendHosts.includes(host)) return link;
  const origin = isOwn ? originOf(scheme, host) : '';
  const isThere = path === prefix || path.startsWith(`${prefix}/`);
  return `${origin}${isThere ? '' : prefix}${path}${more}`;
}

const originOf = (scheme: string | undefined, host: string | undefined) =>
  scheme === undefined ? `//${host}` : `${scheme}://${host}`;
