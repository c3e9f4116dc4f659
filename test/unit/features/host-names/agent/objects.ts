import type { Dns } from '../../../../../src/features/host-names/api/dns.ts';

/** Creates a Dns in the namespace `shop`, with paths such as `/api=api:8080`. */
export function makeDns(name: string, host: string, paths: readonly string[], metadata: object = {}): Dns {
  return {
    apiVersion: 'minik8s.io/v1',
    kind: 'Dns',
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: {
      host,
      paths: paths.map((text) => {
        const [path = '', serviceName = '', port] = text.split(/[=:]/);
        return { path, serviceName, servicePort: Number(port) };
      }),
    },
  };
}
