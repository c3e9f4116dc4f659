/** The ports of a site in a configuration of nginx. Pure. */
import type { Site } from './site.ts';

export interface Ports {
  readonly httpPort: number;
  /** Undefined: HTTPS is not served. */
  readonly httpsPort?: number;
  /** True if the server listens on IPv6, too. */
  readonly ipv6?: boolean;
}

/** Returns the ports on which a site is served. */
export function portsOf(
  { listen }: Pick<Site, 'listen'>,
  { httpPort, httpsPort }: Omit<Ports, 'ipv6'>,
): readonly number[] {
  if (listen) return [listen.port];
  return httpsPort === undefined ? [httpPort] : [httpPort, httpsPort];
}

export function listenLines(site: Pick<Site, 'host' | 'listen'>, ports: Ports): string {
  // A connection whose request has not arrived stays in the kernel, where no reload closes it.
  const isDefault = site.host === '' ? ' default_server deferred' : '';
  const isTls = (port: number) => (site.listen ? site.listen.tls : port === ports.httpsPort);
  return portsOf(site, ports)
    .flatMap((port) => {
      const places = ports.ipv6 ? [`${port}`, `[::]:${port}`] : [`${port}`];
      return places.map((place) => `    listen ${place}${isTls(port) ? ' ssl http2' : ''}${isDefault};\n`);
    })
    .join('');
}
