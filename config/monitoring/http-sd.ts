/**
 * Converts the configuration of a Prometheus with Kubernetes discovery to one for a Prometheus without it.
 * Pure.
 */

/** Names of the API server's lists for the roles of the discovery. */
const lists: Readonly<Record<string, string>> = { endpointslice: 'services', node: 'nodes', pod: 'pods' };

const discovery =
  /kubernetes_sd_configs:( &\S+)?\n {6}- role: (\S+)\n {8}api_server: (\S+)\n((?: {8}(?:authorization|tls_config): .*\n)+)(?: {8}namespaces: .*\n)?/g;

/** Converts the text, so that comments are kept. Throws for an unknown form of discovery. */
export function withHttpDiscovery(config: string): string {
  const made = config
    .replace(discovery, (_, anchor: string | undefined, role: string, server: string, access: string) => {
      const list = lists[role];
      if (list === undefined) throw new Error(`the API server has no list for the role ${role}`);
      const url = `${server}/monitoring/http-sd/${list}`;
      return `http_sd_configs:${anchor ?? ''}\n      - url: ${url}\n        refresh_interval: 15s\n${access}`;
    })
    .replaceAll('kubernetes_sd_configs: *', 'http_sd_configs: *')
    .replace(
      /^.*\n/,
      "# Made by config/monitoring/generate.ts of prometheus.yml, for a Prometheus without kubernetes_sd, such as Debian's.\n#\n$&",
    );
  const left = /kubernetes_sd_configs.*/.exec(made);
  if (left) throw new Error(`a discovery that cannot be read: ${left[0]}`);
  return made;
}
