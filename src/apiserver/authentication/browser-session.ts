/**
 * Sessions of browsers. A session has two halves: a cookie, which scripts cannot read, and a proof, which the
 * page keeps in the storage of its origin and sends in a header. Browsers send a cookie to every port of a
 * host, so the cookie alone reaches other programs of a master's machine; the proof never does. Pure.
 */
import { sessionCookie } from '../../http/session-cookie.ts';

export const proofHeader = 'minik8s-session';
/** Prefix of the subprotocol that holds the proof: a browser cannot set headers on a WebSocket. */
const proofProtocol = 'minik8s.session.';
/** Prefix of the subprotocol that holds the header Accept, in base64url. */
const acceptProtocol = 'minik8s.accept.';

/** Both halves of a session, as sent by a page of this server's own origin. */
export interface SessionCredentials {
  /** Value of the cookie. */
  readonly sealed: string;
  readonly proof: string;
}

type Fields = Pick<Headers, 'get' | 'has'>;

/**
 * Origin of a request:
 * - `own`: a page of this server has sent it;
 * - `other`: a page of another origin, or a navigation of the browser;
 * - `unknown`: the request has neither header, as those of programs.
 */
export type Sender = 'own' | 'other' | 'unknown';

/** `host` is the host and port that the request was sent to, as the client wrote them. */
export function senderOf(headers: Fields, host: string): Sender {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  if (site !== null && site !== 'same-origin') return 'other';
  if (origin !== null && !isOriginOf(origin, host)) return 'other';
  return site === null && origin === null ? 'unknown' : 'own';
}

/**
 * Returns true for a request that a browser has sent for a page of another origin. The browser adds its
 * client certificate to it, so the certificate must not authenticate it. A proxy of the user, such as
 * `kubectl proxy`, decides about the requests that it forwards; no page can set the header that it adds. An
 * origin without TLS is accepted, because WebSockets of Python send the host in this form. Programs may send
 * any origin: those in Go that open WebSockets must send one, such as `http://localhost`.
 */
export function isForged(headers: Fields, host: string): boolean {
  if (headers.has('x-forwarded-for') || !isOfBrowser(headers)) return false;
  const site = headers.get('sec-fetch-site') ?? 'none';
  const origin = headers.get('origin')?.replace(/^http:/i, 'https:');
  const isOwn = origin === undefined || isOriginOf(origin, host);
  return !isOwn || (site !== 'none' && site !== 'same-origin');
}

/**
 * Returns true for the request of a browser, even without Sec-Fetch-Site, which Chrome does not send for
 * WebSockets. Every browser sends the languages of its user and begins its User-Agent as Netscape did; no
 * page can change either of them in a WebSocket or a form.
 */
const isOfBrowser = (headers: Fields): boolean =>
  headers.has('sec-fetch-site') ||
  headers.has('accept-language') ||
  /^(?:Mozilla|Opera)\//.test(headers.get('user-agent') ?? '');

/** Compares as URLs do: `https://host:443` is `https://host`, and letters have no case. */
function isOriginOf(origin: string, host: string): boolean {
  const own = URL.parse(`https://${host}`);
  return own !== null && host !== '' && URL.parse(origin)?.origin === own.origin && /^https:/i.test(origin);
}

/** Returns true if the request claims to belong to a session, even if the session is not valid. */
export const namesSession = (headers: Fields): boolean => headers.has(proofHeader);

/**
 * Returns the session of a request that a page of this server has sent; undefined for a request without one
 * of the halves, or from another origin.
 */
export function sessionOf(headers: Fields, host: string): SessionCredentials | undefined {
  const proof = headers.get(proofHeader);
  if (!proof || senderOf(headers, host) !== 'own') return undefined;
  const sealed = cookieIn(headers.get('cookie') ?? '', sessionCookie);
  return sealed === undefined ? undefined : { sealed, proof };
}

/** Returns the value of a cookie; undefined if there is none of that name, or more than one. */
export function cookieIn(header: string, name: string): string | undefined {
  const values = header.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the cookies without that of the session; empty if there is no other. */
export const withoutSession = (header: string): string =>
  header
    .split(';')
    .filter((pair) => pair.split('=', 1)[0]?.trim() !== sessionCookie)
    .join(';')
    .trim();

/** Headers that a page of the dashboard sends as subprotocols. */
export interface PageFields {
  readonly proof?: string;
  /** The header Accept. */
  readonly accept?: string;
  /** The other protocols. */
  readonly protocols: readonly string[];
}

/**
 * Reads headers from the subprotocols that a WebSocket offers, and removes them. A header that is offered
 * twice is ignored.
 */
export function pageFieldsAmong(offered: readonly string[]): PageFields {
  const valueAfter = (prefix: string) => {
    const [value, ...more] = offered.flatMap((name) =>
      name.startsWith(prefix) ? name.slice(prefix.length) : [],
    );
    return more.length === 0 ? value || undefined : undefined;
  };
  const proof = valueAfter(proofProtocol);
  const encoded = valueAfter(acceptProtocol);
  const accept = encoded && Buffer.from(encoded, 'base64url').toString();
  const protocols = offered.filter(
    (name) => !name.startsWith(proofProtocol) && !name.startsWith(acceptProtocol),
  );
  return {
    ...(proof && { proof }),
    ...(accept && /^[\x20-\x7e]+$/.test(accept) && { accept }),
    protocols,
  };
}
