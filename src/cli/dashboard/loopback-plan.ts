/**
 * Decides what the loopback proxy of `ctl dashboard` does with a request, and how it changes headers. The
 * proxy has no credentials: every client of its port gets the page, and needs a session for anything else.
 * Pure.
 */
import { sessionCookie } from '../../http/session-cookie.ts';

export interface LoopbackPlace {
  /** Host and port of the proxy, as in the address that the browser opens. */
  readonly host: string;
  /** Host and port of the API server. */
  readonly server: string;
}

/** Names and values alternately, as received. */
type RawHeaders = readonly string[];

/**
 * Returns why a request is refused; undefined if it is forwarded. Requests to another host name are refused,
 * because a website can point a name of its own to this machine and read the answers (DNS rebinding).
 */
export function refusalOf(raw: RawHeaders, { host }: LoopbackPlace): string | undefined {
  const hosts = valuesOf(raw, 'host');
  if (hosts.length !== 1 || hosts[0] !== host) return `the dashboard is at http://${host}/dashboard/`;
  const isOwn = (origin: string) => origin === `http://${host}`;
  return valuesOf(raw, 'origin').every(isOwn) ? undefined : 'this page may not use the dashboard';
}

const valuesOf = (raw: RawHeaders, name: string): string[] =>
  raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);

/**
 * Cookies are shared by all ports of a host, so the name contains the port. It has neither `__Host-` nor
 * Secure: not every browser keeps such cookies of a page without TLS, even on loopback.
 */
const localCookie = ({ host }: LoopbackPlace) => `minik8s-session-${host.slice(host.lastIndexOf(':') + 1)}`;

/** Returns the headers of a request for the server: its own origin and cookie in place of the proxy's. */
export function toServer(raw: RawHeaders, place: LoopbackPlace): string[] {
  return mapHeaders(raw, (name, value) => {
    if (name === 'origin') return `https://${place.server}`;
    if (name !== 'cookie') return value;
    const prefix = `${localCookie(place)}=`;
    const own = value
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(prefix));
    return own.map((pair) => `${sessionCookie}=${pair.slice(prefix.length)}`).join('; ') || undefined;
  });
}

/** Returns the headers of an answer for the browser. */
export function toBrowser(raw: RawHeaders, place: LoopbackPlace): string[] {
  return mapHeaders(raw, (name, value) =>
    name === 'set-cookie' && value.startsWith(`${sessionCookie}=`)
      ? value.replace(sessionCookie, localCookie(place)).replace(/; *secure\b/i, '')
      : value,
  );
}

function mapHeaders(raw: RawHeaders, change: (name: string, value: string) => string | undefined): string[] {
  return raw.flatMap((name, i) => {
    const value = i % 2 === 0 ? change(name.toLowerCase(), raw[i + 1] ?? '') : undefined;
    return value === undefined ? [] : [name, value];
  });
}
