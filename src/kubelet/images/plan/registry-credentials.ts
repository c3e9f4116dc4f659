/** Selects the credentials of a pod's pull secrets for an image (upstream: pkg/credentialprovider). Pure. */
import type { Secret } from '../../../api/core/v1/secret.ts';
import { isRecord } from '../../../apimachinery/equality.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';

interface Entry {
  /** Host and path prefix. */
  readonly key: string;
  readonly credentials: RegistryCredentials;
}

const configJson = { type: 'kubernetes.io/dockerconfigjson', key: '.dockerconfigjson' };
const configFile = { type: 'kubernetes.io/dockercfg', key: '.dockercfg' };
const dockerHub = 'index.docker.io';

/**
 * Returns the credentials to try for the image, the most specific first. Throws an error without any of the
 * content for a Secret that cannot be read.
 */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly RegistryCredentials[] {
  const repository = repositoryOf(image);
  const entries = secrets.flatMap(entriesOf).toSorted((a, b) => compare(b.key, a.key));
  const fitting = entries.filter(({ key }) => isFor(key, repository));
  const isOfHub = /^(?:index\.)?docker\.io\//.test(repository);
  const chosen = fitting.length > 0 || !isOfHub ? fitting : entries.filter(({ key }) => key === dockerHub);
  return unique(chosen.map(({ credentials }) => credentials));
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function unique(all: readonly RegistryCredentials[]): readonly RegistryCredentials[] {
  return [...new Map(all.map((one) => [JSON.stringify([one.username, one.password]), one])).values()];
}

function entriesOf({ metadata, type, data = {} }: Secret): readonly Entry[] {
  const kind = [configJson, configFile].find((known) => known.type === type);
  const encoded = kind && data[kind.key];
  if (!encoded) return [];
  const content = parsed(encoded, metadata.name);
  const servers = kind === configJson ? (isRecord(content) ? content.auths : undefined) : content;
  if (servers === undefined || servers === null) return [];
  if (!isRecord(servers)) throw unreadable(metadata.name);
  return Object.entries(servers).flatMap(([server, entry]) => {
    const key = keyOf(server);
    if (entry === null) return [];
    if (!isRecord(entry)) throw unreadable(metadata.name);
    return key === undefined ? [] : [{ key, credentials: credentialsOf(entry, metadata.name) }];
  });
}

function parsed(base64: string, name: string): unknown {
  try {
    return JSON.parse(textOf(base64));
  } catch {
    // The parser's error contains a part of the content.
    throw unreadable(name);
  }
}

const unreadable = (name: string) =>
  new Error(`the image pull secret ${JSON.stringify(name)} cannot be read`);

function credentialsOf(entry: Readonly<Record<string, unknown>>, name: string): RegistryCredentials {
  const word = (value: unknown) => (typeof value === 'string' ? value : '');
  const auth = word(entry.auth);
  if (auth === '') return { username: word(entry.username), password: word(entry.password) };
  let text: string;
  try {
    text = textOf(auth.trim());
  } catch {
    throw unreadable(name);
  }
  const colon = text.indexOf(':');
  if (colon < 0) throw unreadable(name);
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Decodes base64 with or without padding, as upstream. */
const textOf = (base64: string) =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));

/**
 * Returns the key; undefined for an invalid address. Docker writes the address of an API version (/v1/, /v2/)
 * for its host.
 */
function keyOf(server: string): string | undefined {
  const address = /^https?:\/\//.test(server) ? server : `https://${server}`;
  const [, host = '', path = ''] = /^https?:\/\/(?:[^/@]*@)?([^/?#]+)([^?#]*)/.exec(address) ?? [];
  if (host === '') return undefined;
  const rest = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return rest === '/' ? host : `${host}${rest}`;
}

function isFor(key: string, repository: string): boolean {
  const [wanted, given] = [splitAddress(key), splitAddress(repository)];
  return (
    wanted.port === given.port &&
    wanted.parts.length === given.parts.length &&
    given.path.startsWith(wanted.path) &&
    wanted.parts.every((part, index) => matchesGlob(part, given.parts[index] ?? ''))
  );
}

function splitAddress(text: string) {
  const slash = text.indexOf('/');
  const host = slash < 0 ? text : text.slice(0, slash);
  const [, name = host, port = ''] = /^(.*):(\d*)$/.exec(host) ?? [];
  return { parts: name.split('.'), port, path: slash < 0 ? '' : text.slice(slash) };
}

/** Returns true for a match; `*` stands for any characters of one part of a host's name. */
function matchesGlob(glob: string, part: string): boolean {
  // A regular expression is not used: with consecutive stars it could take exponentially long.
  let [g, p, star, mark] = [0, 0, -1, 0];
  while (p < part.length) {
    if (glob[g] === part[p] && glob[g] !== '*') {
      g++;
      p++;
    } else if (glob[g] === '*') {
      star = g++;
      mark = p;
    } else if (star >= 0) {
      g = star + 1;
      p = ++mark;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}

/** Returns the repository with its registry's host, and without a tag or digest. */
function repositoryOf(image: string): string {
  const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  const [first = '', ...rest] = name.split('/');
  // The rule by which Docker distinguishes a registry from the name of a user.
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')) return name;
  return rest.length > 0 ? `docker.io/${name}` : `docker.io/library/${name}`;
}
