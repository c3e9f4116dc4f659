/** The bodies of locations that answer requests of a rule. Pure. */
import { quoted, quotedLiteral } from './quote.ts';
import { encoded, headerVariable } from './render-conditions.ts';
import { corsLines } from './render-policy.ts';
import type {
  ForwardAnswer,
  HeaderChanges,
  HeaderValue,
  Mirror,
  PathChange,
  RedirectAnswer,
  Share,
} from './rule.ts';
import type { Upstreams } from './upstreams.ts';
import { quotedText, type Variables } from './variables.ts';

export interface AnswerFacts {
  readonly upstreams: Upstreams;
  readonly variables: Variables;
}

/** The headers that every backend receives, by name in lower case. */
const requestHeaders: readonly (readonly [string, string])[] = [
  ['host', '$http_host'],
  ['upgrade', '$http_upgrade'],
  ['connection', '$minik8s_connection'],
  ['x-real-ip', '$remote_addr'],
  ['x-forwarded-for', '$remote_addr'],
  ['x-forwarded-host', '$http_host'],
  ['x-forwarded-port', '$server_port'],
  ['x-forwarded-proto', '$scheme'],
  ['x-forwarded-prefix', "''"],
  ['x-request-id', '$request_id'],
];

/** Header of a reload. It is repeated, because a location with headers of its own inherits none. */
const drainHeader = 'add_header Connection $minik8s_close always;';

export function statusBody(status: number): readonly string[] {
  const words =
    status === 500 ? 'the backend of this route is not valid' : 'no backend of this route is available';
  return [`return ${status} ${quoted(words).slice(0, -1)}\\n";`];
}

export function redirectBody(answer: RedirectAnswer, { variables }: AnswerFacts): readonly string[] {
  const { status, scheme, host, port, path } = answer;
  const authority = `${host === undefined ? '$host' : checkedHost(host)}${port === undefined ? '' : `:${port}`}`;
  const target = path === undefined ? '$request_uri' : `${pathVariable(path, variables)}$is_args$args`;
  return [
    ...responseLines(answer.responseHeaders),
    `return ${status} ${quoted(`${scheme}://${authority}${target}`)};`,
  ];
}

/** Returns the location's body for one share of an answer. */
export function shareBody(
  answer: ForwardAnswer,
  share: Share,
  { upstreams, variables }: AnswerFacts,
): readonly string[] {
  if (share.backends.length === 0)
    return [...responseLines(share.responseHeaders), ...statusBody(share.status)];
  const upstream = upstreams.nameOf({ type: 'proxy', protocol: 'HTTP', backends: share.backends });
  const path = answer.path === undefined ? '' : `${pathVariable(answer.path, variables)}$is_args$args`;
  return [
    ...(answer.cors ? corsLines(answer.cors) : []),
    ...timeoutLines(answer.timeoutMs),
    ...requestLines(share.requestHeaders, answer.host, variables),
    ...responseLines(share.responseHeaders, answer.cors !== undefined),
    `proxy_pass http://${upstream}${path};`,
  ];
}

/** Returns the body of the location that answers a copy of the request. */
export function mirrorBody({ backends, fraction }: Mirror, facts: AnswerFacts): readonly string[] {
  const upstream = facts.upstreams.nameOf({ type: 'proxy', protocol: 'HTTP', backends });
  const chosen = fraction < 1 ? [skippedPart(fraction, facts.variables)] : [];
  return ['internal;', ...chosen, `proxy_pass http://${upstream}$request_uri;`];
}

function skippedPart(fraction: number, variables: Variables): string {
  const picked = variables.split([
    { weight: 1 - fraction, value: 'no' },
    { weight: fraction, value: 'yes' },
  ]);
  return `if (${picked} = no) {\n        return 204;\n      }`;
}

function timeoutLines(timeoutMs: number | undefined): readonly string[] {
  if (timeoutMs === undefined) return [];
  // nginx cannot switch a timeout off: a day is used for no limit.
  const ms = timeoutMs === 0 ? 86_400_000 : Math.max(1, Math.round(timeoutMs));
  return ['read', 'send'].map((name) => `proxy_${name}_timeout ${ms}ms;`);
}

function requestLines(
  { set, add, remove }: HeaderChanges,
  host: string | undefined,
  variables: Variables,
): readonly string[] {
  const headers = new Map<string, readonly [string, string]>(
    requestHeaders.map(([name, value]) => [name, [name, value]]),
  );
  if (host !== undefined) headers.set('host', ['Host', quoted(checkedHost(host))]);
  for (const { name, value } of set) headers.set(name.toLowerCase(), [name, quotedText(value)]);
  for (const header of add)
    headers.set(header.name.toLowerCase(), [header.name, appended(header, headers, variables)]);
  for (const name of remove) headers.set(name.toLowerCase(), [name, "''"]);
  return [...headers.values()].map(([name, value]) => `proxy_set_header ${checkedName(name)} ${value};`);
}

/** Returns the value of a header to which one is added: those of the request stay in front. */
function appended(
  { name, value }: HeaderValue,
  headers: ReadonlyMap<string, readonly [string, string]>,
  variables: Variables,
): string {
  const before = headers.get(name.toLowerCase())?.[1];
  if (before !== undefined && before !== "''" && before.startsWith('"'))
    return `${before.slice(0, -1)},${quotedText(value).slice(1)}`;
  const sent = headerVariable(name);
  const joined = `"${sent},${quotedText(value).slice(1)}`;
  return variables.map(sent, [{ pattern: '.', value: joined }], quotedText(value));
}

function responseLines({ set, add, remove }: HeaderChanges, always = false): readonly string[] {
  const added = [...set, ...add];
  const hidden = [...new Set([...set.map(({ name }) => name), ...remove])];
  const lines = [
    ...hidden.map((name) => `proxy_hide_header ${checkedName(name)};`),
    ...added.map(({ name, value }) => `add_header ${checkedName(name)} ${quotedText(value)} always;`),
  ];
  return added.length > 0 || always ? [drainHeader, ...lines] : lines;
}

/**
 * Returns the variable with the changed path, as the request encodes it. A path whose decoded text does not
 * begin with the prefix, such as one with `..`, becomes only the new prefix.
 */
function pathVariable(change: PathChange, variables: Variables): string {
  if (change.type === 'whole') return quotedLiteral(change.path).slice(1, -1);
  const { from, to } = change;
  const start = `^(?:[Hh][Tt][Tt][Pp][Ss]?://[^/?]*)?${encoded(from)}`;
  const target = quotedLiteral(to).slice(1, -1);
  return variables.map(
    '$request_uri',
    [{ pattern: `${start}(?<minik8s_rest>/[^?]*)(?:[?]|$)`, value: `"${target}$minik8s_rest"` }],
    `"${target === '' ? '/' : target}"`,
  );
}

function checkedName(name: string): string {
  if (!/^[A-Za-z0-9-]{1,256}$/.test(name)) throw new Error('a header of the configuration has a bad name');
  return name;
}

function checkedHost(host: string): string {
  if (!/^[A-Za-z0-9.-]{1,253}$/.test(host)) throw new Error('a host of the configuration has a bad name');
  return host;
}
