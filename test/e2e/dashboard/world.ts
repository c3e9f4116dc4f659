/** The cluster of the dashboard's tests: users of several rights, and objects whose texts are hostile. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Page } from 'playwright-core';
import { makeDirectory } from '../harness/belongings.ts';
import type { BrowserRig } from '../harness/browser.ts';
import type { Cluster } from '../harness/cluster.ts';
import type { Host } from '../harness/host.ts';
import { helloImage } from '../harness/images.ts';
import { featureObjects } from './feature-objects.ts';
import { hostile } from './hostile.ts';

export interface World {
  readonly cluster: Cluster;
  readonly host: Host;
  readonly browser: BrowserRig;
  /** Tokens of users, by name. */
  readonly tokens: Readonly<Record<'admin' | 'viewer', string>>;
}

const boats = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.sea.example.org' },
  spec: {
    group: 'sea.example.org',
    scope: 'Namespaced',
    names: { plural: 'boats', singular: 'boat', kind: 'Boat' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: hostile,
            properties: {
              spec: {
                type: 'object',
                required: ['sails'],
                properties: {
                  sails: { type: 'integer', minimum: 1, description: 'Number of sails' },
                  color: { type: 'string', enum: ['red', 'blue'], description: hostile },
                },
              },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'Sails', type: 'integer', jsonPath: '.spec.sails', description: hostile },
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
        ],
      },
    ],
  },
};

/** Objects of the namespace `shop`. */
const objects = [
  boats,
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'viewer', namespace: 'shop' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'admin', namespace: 'kube-system' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'viewer', namespace: 'shop' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: 'shop' }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'dashboard-admin' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'admin', namespace: 'kube-system' }],
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'settings',
      namespace: 'shop',
      labels: { team: 'blue' },
      annotations: { note: hostile },
    },
    data: { 'page.html': hostile },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'password', namespace: 'shop' },
    stringData: { word: 'very-secret-word' },
  },
  deployment('web', 2, helloImage),
  // Its image exists nowhere and is not pulled.
  deployment('broken', 1, 'minik8s/no-such-image:1'),
];

function deployment(name: string, replicas: number, image: string) {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop', labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            { name: 'main', image, imagePullPolicy: 'Never', env: [{ name: 'TEXT', value: hostile }] },
          ],
        },
      },
    },
  };
}

const event = (uid: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'settings.1', namespace: 'shop' },
  involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'shop', uid },
  reason: 'Hostile',
  message: hostile,
  type: 'Warning',
  count: 1,
  firstTimestamp: new Date().toISOString(),
  lastTimestamp: new Date().toISOString(),
});

const boat = (name: string, sails: number) => ({
  apiVersion: 'sea.example.org/v1',
  kind: 'Boat',
  metadata: { name, namespace: 'shop' },
  spec: { sails, color: 'red' },
});

/** Makes the objects, and returns the tokens of the users. */
export async function populate(cluster: Pick<Cluster, 'kubectl'>): Promise<World['tokens']> {
  const { kubectl } = cluster;
  await apply(cluster, objects);
  await kubectl('wait', '--for=condition=Established', 'crd/boats.sea.example.org', '--timeout=60s');
  const settings = await kubectl.json<V1ConfigMap>('get', 'configmap', 'settings', '-n', 'shop');
  await apply(cluster, [
    event(settings.metadata?.uid ?? ''),
    boat('argo', 3),
    boat('dove', 12),
    boat('skiff', 1),
    ...featureObjects,
  ]);
  const token = async (name: string, namespace: string) =>
    (await kubectl('create', 'token', name, '-n', namespace)).trim();
  return { admin: await token('admin', 'kube-system'), viewer: await token('viewer', 'shop') };
}

/** Creates or changes objects by kubectl. */
export async function apply({ kubectl }: Pick<Cluster, 'kubectl'>, items: readonly object[]): Promise<void> {
  const directory = makeDirectory('minik8s-dashboard-');
  const file = join(directory, 'objects.json');
  writeFileSync(file, items.map((item) => JSON.stringify(item)).join('\n'));
  await kubectl('apply', '-f', file);
  rmSync(directory, { recursive: true });
}

/** Returns whether a hostile text ran in a page. */
export const isHacked = (page: Page): Promise<boolean> => page.evaluate(() => 'hacked' in globalThis);
