/**
 * The proxy through which a server is reached, as kubectl chooses it: `proxy-url` of the kubeconfig, else
 * $HTTPS_PROXY or $HTTP_PROXY, unless $NO_PROXY names the server. Pure.
 */
import { addressKind, bytesOfAddress, limitsOfCIDR, sameAddress } from '../base/addresses.ts';
import { UsageError } from '../base/usage-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the URL of the proxy; undefined for none. Throws UsageError for one that cannot be used. */
export function proxyOf(server: string, proxyUrl: string | undefined, env: Environment): string | undefined {
  if (proxyUrl) return checkedProxy(proxyUrl, 'proxy-url');
  const url = URL.parse(server);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = eitherCase(env, name);
  if (proxy === '' || isExempt(url, eitherCase(env, 'NO_PROXY'))) return undefined;
  return checkedProxy(proxy, `$${name}`);
}

const eitherCase = (env: Environment, name: string): string =>
  (env[name] || env[name.toLowerCase()] || '').trim();

/** Returns the URL with its scheme, http:// by default. */
function checkedProxy(text: string, where: string): string {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  // The URL may contain a password.
  const scheme = url ? `has the scheme ${url.protocol.slice(0, -1)}` : 'is not a URL';
  throw new UsageError(`${where}: the proxy ${scheme}: use an HTTP proxy, such as http://proxy:3128`);
}

/** Returns true if no proxy is used for the server: it is on this machine, or the list names it. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (host === 'localhost' || addressKind(host) === 'loopback') return true;
  const serverPort = port || (protocol === 'https:' ? '443' : '80');
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && names(entry, host, serverPort));
}

function names(entry: string, host: string, serverPort: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isWithin(entry, host);
  const { name, port } = splitPort(entry);
  if (port !== undefined && port !== serverPort) return false;
  if (addressKind(host) !== undefined) return sameAddress(name, host);
  // A name stands for its subdomains, too; one with a dot before it only for them.
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (domain === name && host === domain);
}

/** Splits an entry such as `10.0.0.1:6443` or `[::1]:6443`. */
function splitPort(entry: string): { readonly name: string; readonly port: string | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  return { name: bracketed ?? plain ?? entry, port };
}

function isWithin(range: string, host: string): boolean {
  const [limits, bytes] = [limitsOfCIDR(range), bytesOfAddress(host)];
  if (!limits || bytes?.length !== (limits.family === 4 ? 4 : 16)) return false;
  const value = bytes.reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
  return limits.first <= value && value <= limits.last;
}
