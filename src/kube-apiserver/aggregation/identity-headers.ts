/**
 * Headers with the user of a request, for an extension server (upstream: transport.SetAuthProxyHeaders). The
 * extension server trusts them because the connection has the certificate of the front proxy. Pure.
 */
import type { UserInfo } from '../../apiserver/request/user.ts';

/** Headers with one or several values; each byte of a value is one character. */
export type IdentityHeaders = Readonly<Record<string, string | readonly string[]>>;

const encoder = new TextEncoder();

/** Bytes that may stand in the name of a header (RFC 9110 §5.6.2), without the percent sign. */
const plain = /^[A-Za-z0-9!#$&'*+.^_`|~-]$/;

/** Returns the key of an extra field as part of a header's name, percent-encoded. */
export const escapedKey = (key: string): string =>
  [...encoder.encode(key.toLowerCase())]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return plain.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

/** Returns the UTF-8 bytes of a value, one character each, as Node writes headers. */
const bytesOf = (value: string): string =>
  [...encoder.encode(value)].map((byte) => String.fromCharCode(byte)).join('');

export function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): IdentityHeaders {
  const extras = Object.entries(extra).map(
    ([key, values]) => [`X-Remote-Extra-${escapedKey(key)}`, values.map(bytesOf)] as const,
  );
  return {
    'X-Remote-User': bytesOf(name),
    ...(uid && { 'X-Remote-Uid': bytesOf(uid) }),
    ...(groups.length > 0 && { 'X-Remote-Group': groups.map(bytesOf) }),
    ...Object.fromEntries(extras.filter(([, values]) => values.length > 0)),
  };
}

/** Returns whether Node can send the values: control characters cannot be part of a header. */
export const areSendable = (headers: IdentityHeaders): boolean =>
  Object.values(headers)
    .flat()
    .every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value));
