/** Decides what `ctl proxy` does with a request: forward it, serve a file, or refuse it. Pure. */
import { compilePattern, type Pattern, PatternError } from '../../apimachinery/re2.ts';
import { UsageError } from '../../base/usage-error.ts';

export interface ProxySettings {
  /** Path under which the API is served; ends with a slash. */
  readonly apiPrefix: string;
  /** Path under which files are served; undefined for none. */
  readonly filePrefix: string | undefined;
  /** Selects the requests of the API that are forwarded; undefined for all. */
  readonly filter: ProxyFilter | undefined;
}

export interface ProxyFilter {
  readonly acceptHosts: readonly Pattern[];
  readonly acceptPaths: readonly Pattern[];
  readonly rejectPaths: readonly Pattern[];
  readonly rejectMethods: readonly Pattern[];
}

export interface ProxyRequest {
  readonly method: string;
  /** The request's target as it was sent: a path with a query, or a whole URL. */
  readonly target: string;
  /** All headers Host that were sent. */
  readonly hosts: readonly string[];
  /** The header Origin, which browsers send. */
  readonly origin: string | undefined;
}

export type ProxyAction =
  | { readonly kind: 'forward'; readonly path: string }
  /** `path` is relative to the folder, without a slash at its beginning. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'refuse'; readonly status: 400 | 403 | 404; readonly text: string };

const badRequest = { kind: 'refuse', status: 400, text: 'Bad Request' } as const;
const forbidden = { kind: 'refuse', status: 403, text: 'Forbidden' } as const;
const notFound = { kind: 'refuse', status: 404, text: '404 page not found' } as const;

export function proxyAction(request: ProxyRequest, settings: ProxySettings): ProxyAction {
  const target = readTarget(request);
  if (target === undefined) return badRequest;
  const { path, query, host } = target;
  const clean = cleanPath(path);
  if (clean !== path) return { kind: 'redirect', location: encodePath(clean.split('/')) + query };
  const prefix = prefixOf(path, settings);
  if (prefix === undefined) return notFound;
  if (`${path}/` === prefix) return { kind: 'redirect', location: encodePath(prefix.split('/')) + query };
  if (prefix === settings.filePrefix) return { kind: 'file', path: path.slice(prefix.length) };
  const { segments } = target;
  // As in kubectl, a prefix such as /api/ is part of the path of the API.
  const kept = prefix.startsWith('/api') ? segments : ['', ...segments.slice(prefix.split('/').length - 1)];
  const { method, origin } = request;
  const { filter } = settings;
  if (filter && !isAccepted(filter, { method, path: kept.join('/'), host, origin })) return forbidden;
  return { kind: 'forward', path: encodePath(kept) + query };
}

interface Target {
  /** Decoded parts between the slashes of the path; one of them may contain an encoded slash. */
  readonly segments: readonly string[];
  /** Decoded path, in which an encoded slash is a slash. */
  readonly path: string;
  /** Query with its question mark, or empty. */
  readonly query: string;
  readonly host: string;
}

/** Returns undefined for a target that is no path, is encoded wrongly, or has no unambiguous host. */
function readTarget({ target, hosts }: ProxyRequest): Target | undefined {
  const [, authority, rest = target] = /^https?:\/\/([^/?]*)(.*)$/is.exec(target) ?? [];
  const [host, ...moreHosts] = hosts;
  if (host === undefined || moreHosts.length > 0) return undefined;
  const mark = rest.indexOf('?');
  const rawPath = mark < 0 ? rest : rest.slice(0, mark);
  if (!rawPath.startsWith('/')) return undefined;
  try {
    const segments = rawPath.split('/').map(decodeURIComponent);
    const query = mark < 0 ? '' : rest.slice(mark);
    return { segments, path: segments.join('/'), query, host: authority ?? host };
  } catch {
    // A percent sign without two digits, or bytes that are not UTF-8.
    return undefined;
  }
}

/** Returns the path without empty, `.` and `..` parts; a slash at its end is kept. */
function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const clean = `/${parts.join('/')}`;
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean;
}

/** Returns the longer of the prefixes that the path begins with. */
function prefixOf(path: string, { apiPrefix, filePrefix }: ProxySettings): string | undefined {
  return [apiPrefix, filePrefix]
    .filter((prefix) => prefix !== undefined)
    .filter((prefix) => `${path}/`.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0];
}

/**
 * Encodes each part so that every reader sees it as one part; keeps `:`, `@` and other characters that a path
 * may contain.
 */
const encodePath = (segments: readonly string[]): string =>
  segments
    .map((segment) =>
      encodeURIComponent(segment).replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent),
    )
    .join('/');

interface FilteredRequest {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly origin: string | undefined;
}

function isAccepted(filter: ProxyFilter, { method, path, host, origin }: FilteredRequest): boolean {
  const { acceptHosts, acceptPaths, rejectPaths, rejectMethods } = filter;
  if (matches(rejectPaths, path) || matches(rejectMethods, method) || !matches(acceptPaths, path))
    return false;
  return isOfHost(host, acceptHosts) && (origin === undefined || isOfHost(originHost(origin), acceptHosts));
}

const matches = (patterns: readonly Pattern[], text: string) =>
  patterns.some((pattern) => pattern.matches(text));

/** Returns true if the host of a header such as `localhost:8001` or `[::1]:8001` is accepted. */
function isOfHost(header: string, patterns: readonly Pattern[]): boolean {
  const [, bracketed, plain] = /^(?:(\[[^\]]*\])|([^:]*))(?::\d*)?$/.exec(header) ?? [];
  const names = bracketed === undefined ? [plain ?? header] : [bracketed, bracketed.slice(1, -1)];
  return names.some((name) => matches(patterns, name));
}

/** Returns the host of an origin such as `http://localhost:3000`; another text, such as `null`, as it is. */
const originHost = (origin: string): string => /^[a-z][a-z0-9+.-]*:\/\/([^/]*)$/i.exec(origin)?.[1] ?? origin;

/** Compiles expressions separated by commas. Throws UsageError that names the flag. */
export function patternsOf(flag: string, text: string): Pattern[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    try {
      return compilePattern(part);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw new UsageError(`--${flag}: ${JSON.stringify(part)} is no regular expression: ${error.message}`);
    }
  });
}
