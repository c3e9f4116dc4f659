/** Addresses of the app's pages. Pure. */

/** Path below which the app is served. */
export const base = '/dashboard';

export interface Place {
  /** Segments of the path below the base, decoded; empty for the first page. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

export function placeOf(pathname: string, search: string): Place {
  const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length + 1) : '';
  const segments = path.split('/').filter((segment) => segment !== '');
  return { segments: segments.map(decoded), query: new URLSearchParams(search) };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the address of a page, such as `pageHref('logs', { pod: 'web' })`. */
export function pageHref(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  return `${base}/${path}${search.size > 0 ? `?${search}` : ''}`;
}

/** Returns the address of the table of a kind; `query` is a search that it begins with. */
export const kindHref = (key: string, query: Readonly<Record<string, string | undefined>> = {}): string =>
  pageHref(`k/${encodeURIComponent(key)}`, query);

/** Returns the address of an object; `namespace` is empty for an object without one. */
export const objectHref = (key: string, namespace: string, name: string, tab = ''): string =>
  pageHref(['k', key, namespace || '-', name, ...(tab ? [tab] : [])].map(encodeURIComponent).join('/'));
