/** Short ways to write the objects of a fault. An object is named `x` unless it has a name of its own. */
import { helloImage } from '../images.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const main = (more: Fields = {}) => ({
  ...{ name: 'main', image: helloImage, imagePullPolicy: 'IfNotPresent' },
  ...more,
});
export const shell = (script: string, more: Fields = {}) => main({ command: ['sh', '-c', script], ...more });
export const template = (container: Fields, spec: Fields = {}) => ({
  metadata: { labels: { app: 'x' } },
  spec: { terminationGracePeriodSeconds: 1, containers: [container], ...spec },
});
export const pod = (container: Fields = main(), spec: Fields = {}, more: Fields = {}) => {
  const made = template(container, spec);
  return { apiVersion: 'v1', kind: 'Pod', ...made, metadata: { name: 'x', ...made.metadata, ...more } };
};
export const workload = (kind: string, container: Fields, spec: Fields = {}, podSpec: Fields = {}) => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { name: 'x' } },
  spec: { selector: { matchLabels: { app: 'x' } }, template: template(container, podSpec), ...spec },
});
export const deployment = (container: Fields = main(), spec: Fields = {}, podSpec: Fields = {}) =>
  workload('Deployment', container, spec, podSpec);
export const object = (apiVersion: string, kind: string, name: string, spec: Fields, more: Fields = {}) => ({
  ...{ apiVersion, kind, spec },
  metadata: { name, ...more },
});
export const job = (container: Fields, spec: Fields = {}) =>
  object('batch/v1', 'Job', 'x', {
    ...{ backoffLimit: 0, ...spec },
    template: { spec: { restartPolicy: 'Never', containers: [container] } },
  });
export const service = (spec: Fields) => object('v1', 'Service', 'x', { ports: [{ port: 80 }], ...spec });
export const claim = (spec: Fields, name = 'data') =>
  object('v1', 'PersistentVolumeClaim', name, {
    ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    ...spec,
  });
export const ingress = (spec: Fields) => object('networking.k8s.io/v1', 'Ingress', 'x', spec);
export const backend = (name: string, port: Fields = { number: 80 }) => ({
  rules: [
    {
      host: 'made.example',
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port } } }] },
    },
  ],
});
export const mount = (volume: Fields) => ({ volumes: [{ name: 'v', ...volume }] });
export const mounting = main({ volumeMounts: [{ name: 'v', mountPath: '/v' }] });
export const required = (terms: Fields) => ({ affinity: terms });
export const wantedZone = {
  key: 'topology.kubernetes.io/zone',
  operator: 'In',
  values: ['moon'],
};
export const probe = (script: string, more: Fields = {}) => ({
  ...{ exec: { command: ['sh', '-c', script] }, periodSeconds: 1, failureThreshold: 1 },
  ...more,
});
export const named = <T extends { readonly metadata: object }>(name: string, made: T) => ({
  ...made,
  metadata: { ...made.metadata, name },
});
/** Returns the words of `ctl` that remove a field of the template of a Deployment, or of another kind. */
export const removing = (path: string, kind = 'deployment'): readonly string[] => {
  const patch = [{ op: 'remove', path: `/spec/template/spec/${path}` }];
  return ['patch', kind, 'x', '--type=json', '-p', JSON.stringify(patch)];
};
/** Returns the words that set a condition of the pod, as the program does that a readiness gate waits for. */
export const setCondition = (type: string): readonly string[] => {
  const patch = { status: { conditions: [{ type, status: 'True' }] } };
  return ['patch', 'pod', 'x', '--subresource=status', '--type=strategic', '-p', JSON.stringify(patch)];
};
export const restart = ['rollout', 'restart', 'deployment', 'x'];
