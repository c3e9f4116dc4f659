/** Ingresses for tests. */
import type { Ingress } from '../../../../src/api/networking/v1/ingress.ts';
import { annotationPrefix } from '../../../../src/features/ingress/api/annotations.ts';

type Path = NonNullable<NonNullable<Ingress['spec']['rules']>[number]['http']>['paths'][number];

interface Options {
  readonly host?: string;
  readonly paths?: readonly Path[];
  readonly namespace?: string;
  /** Second of its creation. */
  readonly age?: number;
  /** Annotations without their prefix. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly tls?: Ingress['spec']['tls'];
  readonly defaultBackend?: Path['backend'];
}

/** Creates an Ingress of the class minik8s in the namespace `shop`. */
export function makeIngress(name: string, options: Options): Ingress {
  const { host, paths, namespace = 'shop', age = 0, annotations = {}, tls, defaultBackend } = options;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name,
      namespace,
      uid: `${namespace}-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: `2026-01-01T00:00:${String(age).padStart(2, '0')}Z`,
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`${annotationPrefix}${key}`, value]),
      ),
    },
    spec: {
      ingressClassName: 'minik8s',
      ...(paths && { rules: [{ ...(host !== undefined && { host }), http: { paths: [...paths] } }] }),
      ...(tls && { tls }),
      ...(defaultBackend && { defaultBackend }),
    },
    status: { loadBalancer: {} },
  };
}

export const toService = (name: string, number = 80): Path['backend'] => ({
  service: { name, port: { number } },
});

export const prefix = (path: string, backend: Path['backend']): Path => ({
  path,
  pathType: 'Prefix',
  backend,
});
