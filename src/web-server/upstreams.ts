/** The groups of backends in a configuration of nginx. Pure. */
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

  /** Returns the name of the group with the proxy's backends. */
  nameOf({ backends, affinity }: ProxyAction): string {
    const lines = backends.map((backend) => `    server ${checked(backend)};\n`).join('');
    const hash = affinity ? `    hash ${affinityNames(affinity.cookie).key} consistent;\n` : '';
    const text = hash + lines;
    const known = this.#names.get(text) ?? `minik8s_${this.#names.size}`;
    this.#names.set(text, known);
    return known;
  }

  render(): string {
    return [...this.#names].map(([text, name]) => `  upstream ${name} {\n${text}  }\n`).join('');
  }
}

function checked(backend: string): string {
  if (!/^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}$/.test(backend))
    throw new Error('a backend of the configuration is not an address with a port');
  return backend;
}
