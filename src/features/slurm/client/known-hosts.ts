/** Keys that identify a host (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
import { createHash, createHmac } from 'node:crypto';

export interface HostKeys {
  /** Types of the keys, such as ssh-ed25519. */
  readonly types: readonly string[];
  readonly has: (key: Buffer) => boolean;
}

/**
 * Returns the keys for the host; a line with only a type and a key applies to any host. Revoked keys are
 * excluded.
 */
export function hostKeys(text: string, host: string, port: number): HostKeys {
  const name = port === 22 ? host : `[${host}]:${port}`;
  const keys = new Map<string, string>();
  const revoked = new Set<string>();
  const read = text.split(/\r?\n/).flatMap((line) => readLine(line) ?? []);
  for (const { patterns = '*', mark, key, type } of read) {
    if (!matches(patterns, name)) continue;
    if (mark === '@revoked') revoked.add(key);
    // Keys of certificate authorities are ignored, because certificates are not supported.
    else if (mark === undefined) keys.set(key, type);
  }
  for (const key of revoked) keys.delete(key);
  return {
    types: [...new Set(keys.values())],
    has: (key) => keys.has(key.toString('base64')),
  };
}

interface Line {
  /** Marker, such as `@revoked`. */
  readonly mark: string | undefined;
  /** Patterns of hosts, separated by commas; undefined for any host. */
  readonly patterns: string | undefined;
  readonly type: string;
  /** Key in base64. */
  readonly key: string;
}

/** Returns undefined for a comment, and for a line without a key of a known type. */
function readLine(line: string): Line | undefined {
  const words = line.trim().split(/\s+/);
  if (words[0] === '' || words[0]?.startsWith('#')) return undefined;
  const mark = words[0]?.startsWith('@') ? words.shift() : undefined;
  const patterns = isType(words[0]) ? undefined : words.shift();
  const [type, base64] = words;
  if (!isType(type) || base64 === undefined) return undefined;
  return { mark, patterns, type, key: Buffer.from(base64, 'base64').toString('base64') };
}

const isType = (word: string | undefined): word is string =>
  word !== undefined && /^(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp(256|384|521)|sk-[\w@.-]+)$/.test(word);

function matches(patterns: string, name: string): boolean {
  let found = false;
  for (const pattern of patterns.split(',')) {
    const negated = pattern.startsWith('!');
    if (!matchesOne(negated ? pattern.slice(1) : pattern, name)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

function matchesOne(pattern: string, name: string): boolean {
  const [, salt, hash] = /^\|1\|([^|]+)\|(.+)$/.exec(pattern) ?? [];
  if (salt !== undefined)
    return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash;
  const source = pattern
    .replace(/[\\^$+.()|[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'i').test(name);
}

/** Returns the fingerprint in the format of ssh-keygen -l. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** Returns the protocol's names of signatures with a key of the type. */
export const signatures = (type: string): readonly string[] =>
  type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type];
