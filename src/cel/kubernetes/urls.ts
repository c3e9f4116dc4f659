/** Kubernetes' functions of URLs, which Go's net/url parses. */
import { traversal } from '../cost/costs.ts';
import type { Run } from '../evaluation/run.ts';
import type { Declaration } from '../functions/overload.ts';
import { ValueList, ValueMap } from '../values/collections.ts';
import { Fault, noSuchOverload, Opaque, type Result, type Value } from '../values/value.ts';

interface Parts {
  readonly scheme: string;
  /** Host with its port. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

class Url extends Opaque {
  readonly typeName = 'kubernetes.URL';
  readonly text: string;
  readonly parts: Parts;
  constructor(text: string, parts: Parts) {
    super();
    this.text = text;
    this.parts = parts;
  }
  equals(other: Opaque): boolean {
    return other instanceof Url && other.text === this.text;
  }
}

/** Longest text that is parsed. */
const maxLength = 64 * 1024;

const shape = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Go rejects control characters
const control = /[\x00-\x1f\x7f]/;
const hostShape =
  /^(?:\[[0-9a-fA-F:.]+(?:%25[\w.~%-]+)?\]|(?:[^\s"#/<>?@[\\\]^`{|}%:]|%[0-9a-fA-F]{2})*)(?::\d*)?$/;
const userInfo = /^(?:[\w.:~!$&'()*+,;=@-]|%[0-9a-fA-F]{2})*$/;
const badEscape = /%(?![0-9a-fA-F]{2})/;

/** Returns the parts, or Go's reason why the text is neither a URI with a scheme nor an absolute path. */
function parse(text: string): Parts | string {
  return textFault(text) ?? parseParts(text);
}

function textFault(text: string): string | undefined {
  if (text === '') return 'empty url';
  if (text.length > maxLength) return 'too long';
  if (control.test(text)) return 'net/url: invalid control character in URL';
  return text.startsWith(':') ? 'missing protocol scheme' : undefined;
}

function parseParts(text: string): Parts | string {
  const [, scheme, authority, path = '', query = ''] = shape.exec(text) ?? [];
  const isPath = authority !== undefined || path.startsWith('/');
  if (scheme === undefined && !text.startsWith('/')) return 'invalid URI for request';
  if (!isPath) return { scheme: (scheme ?? '').toLowerCase(), host: '', path: '', query };
  const whole = authority ?? '';
  const at = whole.lastIndexOf('@');
  const host = whole.slice(at + 1);
  const fault = partFault(whole.slice(0, Math.max(at, 0)), host, path);
  return fault ?? { scheme: (scheme ?? '').toLowerCase(), host, path, query };
}

function partFault(user: string, authority: string, path: string): string | undefined {
  if (!userInfo.test(user)) return 'net/url: invalid userinfo';
  if (!hostShape.test(authority)) {
    const port = /:[^\]]*$/.exec(authority)?.[0];
    if (port !== undefined && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
    return 'invalid character in host name';
  }
  return badEscape.test(path) ? 'invalid URL escape' : undefined;
}

function url([text]: readonly Value[], run: Run): Result {
  if (typeof text !== 'string') return noSuchOverload;
  run.work(8 + text.length / 16);
  const parts = parse(text);
  if (typeof parts !== 'string') return new Url(text, parts);
  const shown = `parse ${JSON.stringify(text)}: ${parts}`;
  return new Fault(`URL parse error during conversion from string: ${shown}`);
}

function isUrl([text]: readonly Value[], run: Run): Result {
  if (typeof text !== 'string') return noSuchOverload;
  run.work(8 + text.length / 16);
  return typeof parse(text) !== 'string';
}

function ofUrl(read: (parts: Parts, run: Run) => Result): Declaration[1] {
  return ([value], run) => (value instanceof Url ? read(value.parts, run) : noSuchOverload);
}

/** Splits a host from its port. */
const hostAndPort = /^(?:\[(.*)\]|([^:]*))(?::(\d*))?$/s;

function hostname({ host: whole }: Parts): string {
  const [, bracketed, plain] = hostAndPort.exec(whole) ?? [];
  return bracketed ?? plain ?? whole;
}

function port({ host: whole }: Parts): string {
  return hostAndPort.exec(whole)?.[3] ?? '';
}

/** Characters of a path that stand for themselves. */
const unescaped = /[^\w.~!$&'()*+,;=:@/%[\]-]/gu;

function escapedPath({ path }: Parts): string {
  return path.replace(unescaped, (character) => encodeURIComponent(character));
}

/** Returns the values by name. Pairs that are not well formed are left out. */
function query(parts: Parts, run: Run): Result {
  const found = new Map<string, Value[]>();
  run.work(parts.query.length / 4);
  for (const [name, value] of pairsOf(parts.query)) {
    const values = found.get(name);
    if (values) values.push(value);
    else found.set(name, [value]);
  }
  return ValueMap.of([...found].map(([name, values]) => [name, new ValueList(values)]));
}

function* pairsOf(text: string): Iterable<readonly [name: string, value: string]> {
  for (const pair of text.split('&')) {
    const [, rawName = '', rawValue = ''] = /^([^=]*)(?:=(.*))?$/s.exec(pair) ?? [];
    const [name, value] = [decoded(rawName), decoded(rawValue)];
    const isGood = pair !== '' && !pair.includes(';');
    if (isGood && name !== undefined && value !== undefined) yield [name, value];
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export const urls: readonly Declaration[] = [
  ['url(string): kubernetes.URL', url, traversal(0, { sized: true })],
  ['isURL(string): bool', isUrl],
  ['kubernetes.URL.getScheme(): string', ofUrl(({ scheme }) => scheme)],
  ['kubernetes.URL.getHost(): string', ofUrl((parts) => parts.host)],
  ['kubernetes.URL.getHostname(): string', ofUrl(hostname)],
  ['kubernetes.URL.getPort(): string', ofUrl(port)],
  ['kubernetes.URL.getEscapedPath(): string', ofUrl(escapedPath)],
  ['kubernetes.URL.getQuery(): map<string, list<string>>', ofUrl(query)],
];

/** Returns Go's reason why the text is no URI; undefined for a URI. */
export function uriFault(text: string): string | undefined {
  const parts = parse(text);
  return typeof parts === 'string' ? `parse ${JSON.stringify(text)}: ${parts}` : undefined;
}
