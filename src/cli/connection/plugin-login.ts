/** Credentials of a plugin, for all requests of a command. */
import type { Clock } from '../../base/clock.ts';
import type { PluginCredentials } from '../../client/exec-credential.ts';
import type { Transport } from '../../client/transport.ts';

/** Runs the plugin when its credentials are first needed, when they expire, and after a 401. */
export class PluginLogin {
  readonly #run: () => Promise<PluginCredentials>;
  readonly #clock: Pick<Clock, 'now'>;
  #latest: PluginCredentials | undefined;
  #running: Promise<PluginCredentials> | undefined;
  #isRejected = false;

  constructor(run: () => Promise<PluginCredentials>, clock: Pick<Clock, 'now'>) {
    this.#run = run;
    this.#clock = clock;
  }

  /** The credentials that were used last; undefined before the plugin has run. */
  get latest(): PluginCredentials | undefined {
    return this.#latest;
  }

  /** Resolves to valid credentials; requests that wait for them share one run of the plugin. */
  async current(): Promise<PluginCredentials> {
    const known = this.#latest;
    if (known && !this.#isRejected && this.#clock.now() < (known.expires ?? Number.POSITIVE_INFINITY))
      return known;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    this.#latest = await this.#running;
    this.#isRejected = false;
    return this.#latest;
  }

  /** Makes the next request run the plugin, unless it has run since `used` was returned. */
  reject(used: PluginCredentials): void {
    if (used === this.#latest) this.#isRejected = true;
  }
}

/**
 * Returns a transport that sends each request with valid credentials. An answer 401 is passed on, as kubectl
 * does; the request after it has new credentials. `open` makes the transport for credentials.
 */
export function loginTransport(
  login: PluginLogin,
  open: (credentials: PluginCredentials) => Transport,
): Transport {
  const opened = new Map<PluginCredentials, Transport>();
  return {
    async request(request) {
      const credentials = await login.current();
      const transport = opened.get(credentials) ?? open(credentials);
      opened.set(credentials, transport);
      const response = await transport.request(request);
      if (response.status === 401) login.reject(credentials);
      return response;
    },
    close() {
      // A watch may still use the connection of earlier credentials.
      for (const transport of opened.values()) transport.close();
    },
  };
}
