/** The groups of backends in a configuration of nginx. Pure. */
import type { BackendTls } from './rule.ts';
import type { ProxyAction } from './site.ts';

/**
 * Returns the variables of a cookie: its value in the request, the key of the backend, and the cookie to
 * send. Throws an Error for a name that no variable can have: callers validate names.
 */
export function affinityNames(cookie: string) {
  if (!/^[A-Za-z0-9_]{1,64}$/.test(cookie)) throw new Error('a cookie of the configuration has a bad name');
  return {
    read: `$cookie_${cookie}`,
    key: `$minik8s_key_${cookie.toLowerCase()}`,
    send: `$minik8s_send_${cookie.toLowerCase()}`,
  };
}

export class Upstreams {
  readonly #names = new Map<string, string>();

  /**
   * Returns the name of the group with the proxy's backends. Each name and set of authorities has a group of
   * its own: nginx resumes sessions within a group, and does not check a certificate again.
   */
  nameOf({ backends, affinity }: Pick<ProxyAction, 'backends' | 'affinity'>, tls?: BackendTls): string {
    const lines = backends.map((backend) => `    server ${checked(backend)};\n`).join('');
    const hash = affinity ? `    hash ${affinityNames(affinity.cookie).key} consistent;\n` : '';
    const checks = tls ? `    # ${checkedHost(tls.name)} ${checkedFile(tls.authorities)}\n` : '';
    const text = checks + hash + lines;
    const known = this.#names.get(text) ?? `minik8s_${this.#names.size}`;
    this.#names.set(text, known);
    return known;
  }

  render(): string {
    return [...this.#names].map(([text, name]) => `  upstream ${name} {\n${text}  }\n`).join('');
  }
}

export function checkedHost(host: string): string {
  if (!/^[A-Za-z0-9.-]{1,253}$/.test(host)) throw new Error('a host of the configuration has a bad name');
  return host;
}

/** Returns the name of a file beside the configuration. */
export function checkedFile(name: string): string {
  if (!/^[a-z0-9-]{1,64}\.pem$/.test(name)) throw new Error('a file of the configuration has a bad name');
  return name;
}

function checked(backend: string): string {
  if (!/^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}$/.test(backend))
    throw new Error('a backend of the configuration is not an address with a port');
  return backend;
}
