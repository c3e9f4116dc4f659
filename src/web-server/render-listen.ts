/** The ports of a site in a configuration of nginx. Pure. */
import type { Site } from './site.ts';

export interface Ports {
  readonly httpPort: number;
  /** Undefined: HTTPS is not served. */
  readonly httpsPort?: number;
}

/** Returns the ports on which a site is served. */
export function portsOf({ listen }: Pick<Site, 'listen'>, { httpPort, httpsPort }: Ports): readonly number[] {
  if (listen) return [listen.port];
  return httpsPort === undefined ? [httpPort] : [httpPort, httpsPort];
}

export function listenLines(site: Pick<Site, 'host' | 'listen'>, ports: Ports): string {
  // A connection whose request has not arrived stays in the kernel, where no reload closes it.
  const isDefault = site.host === '' ? ' default_server deferred' : '';
  const isTls = (port: number) => (site.listen ? site.listen.tls : port === ports.httpsPort);
  return portsOf(site, ports)
    .map((port) => `    listen ${port}${isTls(port) ? ' ssl http2' : ''}${isDefault};\n`)
    .join('');
}
