/** The locations of one site in a configuration of nginx. Pure. */
import type { Match } from './match.ts';
import { quoted, quotedLiteral } from './quote.ts';
import { corsLines, policyLines } from './render-policy.ts';
import { isPlainPath, type ProxyAction, type Route, type Site } from './site.ts';
import { affinityNames, type Upstreams } from './upstreams.ts';

export const unavailable = 'return 503 "the service of this path is not available\\n";';

/** Returns the text in double quotes, with the end of its line. */
const line = (text: string) => `${quotedLiteral(text).slice(0, -1)}\\n"`;

export interface RouteFacts {
  readonly upstreams: Upstreams;
  readonly httpsPort: number | undefined;
}

export function renderRoutes({ routes, notFound }: Site, facts: RouteFacts): string {
  const exact = new Set(routes.flatMap(({ match }) => (match.type === 'Exact' ? [match.path] : [])));
  const hasRoot = routes.some(({ match }) => match.type === 'Prefix' && match.path === '/');
  const rest = hasRoot ? '' : location('/', `return 404 ${line(notFound)};`);
  return (
    routes
      .map((route) => {
        const body = bodyOf(route, facts);
        return locationsOf(route.match, exact)
          .map((name) => location(name, body))
          .join('');
      })
      .join('') + rest
  );
}

/** Returns the locations of a match. If an Exact has the path of a Prefix, it answers that path itself. */
function locationsOf({ type, path }: Match, exact: ReadonlySet<string>): readonly string[] {
  if (type === 'Regex') return [`~* ${quoted(`^(?:${path})`)}`];
  if (!isPlainPath(path)) throw new Error('a path of the configuration has a character that is not allowed');
  if (type === 'Exact') return [`= ${quotedLiteral(path)}`];
  if (path === '/') return ['/'];
  const below = `^~ ${quotedLiteral(`${path}/`)}`;
  return exact.has(path) ? [below] : [`= ${quotedLiteral(path)}`, below];
}

const location = (name: string, body: string) => `    location ${name} {
      ${body}
    }
`;

function bodyOf({ match, action, policy = {} }: Route, { upstreams, httpsPort }: RouteFacts): string {
  const port = httpsPort === 443 ? '' : `:${httpsPort}`;
  const redirect =
    policy.requiresTls && httpsPort !== undefined
      ? [`if ($scheme = http) {\n        return 308 https://$host${port}$request_uri;\n      }`]
      : [];
  const lines = [...redirect, ...policyLines(policy)];
  if (action.type === 'unavailable') return [...lines, unavailable].join('\n      ');
  if (action.type === 'redirect')
    return [...lines, `return ${action.status} ${quotedLiteral(action.url)};`].join('\n      ');
  return [
    ...lines,
    ...headerLines(action, policy.cors ? corsLines(policy.cors) : []),
    ...proxyLines(match, action, upstreams.nameOf(action)),
  ].join('\n      ');
}

/**
 * Returns the lines of headers. A location with its own headers inherits none, so the header that is sent
 * before a reload is repeated.
 */
function headerLines({ affinity }: ProxyAction, cors: readonly string[]): readonly string[] {
  if (!affinity && cors.length === 0) return [];
  const again = 'add_header Connection $minik8s_close always;';
  if (!affinity) return [again, ...cors];
  const { maxAgeSeconds } = affinity;
  const { send } = affinityNames(affinity.cookie);
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  // A header with an empty value is not sent; attributes alone would not be empty.
  const attributes = `set $minik8s_cookie ${send};
      if ($minik8s_cookie != '') {
        set $minik8s_cookie "$minik8s_cookie${age}; Path=/; HttpOnly";
      }`;
  return [attributes, again, 'add_header Set-Cookie $minik8s_cookie always;', ...cors];
}

function proxyLines(match: Match, proxy: ProxyAction, upstream: string): readonly string[] {
  const { protocol, rewrite, stripsPrefix } = proxy;
  const pattern = match.type === 'Regex' ? quoted(`(?i)^(?:${match.path})`) : '^';
  const rewritten = rewrite === undefined ? [] : [`rewrite ${pattern} ${quoted(rewrite)} break;`];
  if (protocol === 'GRPC' || protocol === 'GRPCS') {
    const scheme = protocol === 'GRPC' ? 'grpc' : 'grpcs';
    return [...rewritten, `grpc_pass ${scheme}://${upstream};`];
  }
  const scheme = protocol === 'HTTPS' ? 'https' : 'http';
  if (stripsPrefix && match.path !== '/')
    return [`set $minik8s_prefix ${quotedLiteral(match.path)};`, `proxy_pass ${scheme}://${upstream}/;`];
  return [...rewritten, `proxy_pass ${scheme}://${upstream};`];
}
