/** Objects and files that the examples of the help name. */
import { container, deployment } from './parity-cases.ts';

const web = deployment({}, [container('nginx', { image: 'nginx' })], { old: 'x' });
const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web', part: 'x' } },
  spec: { containers: [container('c')] },
});
const podTemplate = { spec: { restartPolicy: 'Never', containers: [container('c')] } };

/** A List of what the examples change or read. */
export const exampleObjects = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    web,
    pod('web'),
    pod('db'),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'backup' },
      spec: { schedule: '0 3 * * *', jobTemplate: { spec: { template: podTemplate } } },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    },
  ],
} as const;

const definition = '{"StartAt": "a", "States": {"a": {"Type": "Succeed"}}}\n';
const yaml = (object: unknown) => `${JSON.stringify(object)}\n`;
const changed = deployment({}, [container('nginx', { image: 'nginx:2' })]);

/** Text of each file by its path. */
export const exampleFiles: Readonly<Record<string, string>> = {
  'web.yaml': yaml(changed),
  'manifests/web.yaml': yaml(changed),
  'shop/settings.yaml': yaml({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings-of-shop', labels: { app: 'shop' } },
    data: { color: 'blue' },
  }),
  'old.yaml': yaml({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'old' }, spec: pod('old').spec }),
  'roles.yaml': yaml({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  'app.conf': 'a\n',
  'app.env': 'COLOR=blue\n',
  'password.txt': 'secret',
  'config.json': '{"auths":{}}',
  'order.yaml': definition,
  'order.json': '{"item":7}',
  'answers.yaml': '{}\n',
  'hello/main.py': 'def handler(event, context):\n    return event\n',
  'fit/run.sbatch': '#!/bin/sh\ntrue\n',
};
