/** The headers of requests to backends and of their answers, in locations of rules. Pure. */
import { quoted } from './quote.ts';
import { headerVariable } from './render-conditions.ts';
import type { HeaderChanges, HeaderValue } from './rule.ts';
import { checkedHost } from './upstreams.ts';
import { quotedText, type Variables } from './variables.ts';

/** Module of nginx that passes a request to a backend. */
export type Module = 'proxy' | 'grpc';

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

/** HTTP/2 has no headers that name the connection. */
const baseHeaders = {
  proxy: requestHeaders,
  grpc: requestHeaders.filter(([name]) => name !== 'upgrade' && name !== 'connection'),
} as const;

/**
 * Response header that ends a client's connection after a reload. Each location repeats it, because a
 * location with headers of its own inherits none.
 */
const drainHeader = 'add_header Connection $minik8s_close always;';

export function requestLines(
  module: Module,
  { set, add, remove }: HeaderChanges,
  host: string | undefined,
  variables: Variables,
): readonly string[] {
  const headers = new Map<string, readonly [string, string]>(
    baseHeaders[module].map(([name, value]) => [name, [name, value]]),
  );
  if (host !== undefined) headers.set('host', ['Host', quoted(checkedHost(host))]);
  for (const { name, value } of set) headers.set(name.toLowerCase(), [name, quotedText(value)]);
  for (const header of add)
    headers.set(header.name.toLowerCase(), [header.name, appended(header, headers, variables)]);
  for (const name of remove) headers.set(name.toLowerCase(), [name, "''"]);
  return [...headers.values()].map(([name, value]) => `${module}_set_header ${checkedName(name)} ${value};`);
}

/** Returns the value of a header with one more value, behind the values of the request. */
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

export function responseLines(
  module: Module,
  { set, add, remove }: HeaderChanges,
  always = false,
): readonly string[] {
  const added = [...set, ...add];
  const hidden = [...new Set([...set.map(({ name }) => name), ...remove])];
  const lines = [
    ...hidden.map((name) => `${module}_hide_header ${checkedName(name)};`),
    ...added.map(({ name, value }) => `add_header ${checkedName(name)} ${quotedText(value)} always;`),
  ];
  return added.length > 0 || always ? [drainHeader, ...lines] : lines;
}

function checkedName(name: string): string {
  if (!/^[A-Za-z0-9-]{1,256}$/.test(name)) throw new Error('a header of the configuration has a bad name');
  return name;
}
