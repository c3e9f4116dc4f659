/** Manifests in the form of another small system, and Kubernetes manifests with a mistake. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { isOtherDialect } from '../../../../src/cli/convert/dialect.ts';

const metadata = { name: 'x' };
const spec = { containers: [{ name: 'c', image: 'i' }] };
const pod = (more: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { ...spec, ...more },
});
const limits = (amounts: JsonObject) => pod({ containers: [{ name: 'c', resources: { limits: amounts } }] });
const template = { metadata: { labels: { a: 'b' } }, spec };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template },
};
const serviceSpec = (fields: JsonObject) => ({ apiVersion: 'v1', kind: 'Service', metadata, spec: fields });
const service = (ports: JsonObject) => serviceSpec({ ports: [ports] });

describe('a manifest of another system', () => {
  for (const [what, object] of [
    ['a job with a script', { kind: 'Job', metadata, cudaPath: './a.cu', slurmPath: './a.slurm' }],
    [
      'a job with a partition',
      { apiVersion: 'v1', kind: 'Job', metadata, spec: { partition: 'p', runCommands: ['a'] } },
    ],
    ['an HPA', { apiVersion: 'v1', kind: 'HPA', metadata, spec: {} }],
    ['a GPUJob', { kind: 'GPUJob', name: 'x' }],
    ['an activity', { kind: 'activity', name: 'x', function: 'f.py' }],
    ['a host beside the kind', { kind: 'DNS', name: 'd', host: 'a.example' }],
    [
      'a port of a Service in v1',
      {
        apiVersion: 'v1',
        kind: 'Dns',
        metadata,
        spec: { host: 'a.example', paths: [{ path: '/', serviceName: 's', port: 80 }] },
      },
    ],
    ['a host in v1', { apiVersion: 'v1', kind: 'Dns', metadata, spec: { host: 'a.example', paths: [] } }],
    ['states', { Name: 'w', StartAt: 'a', States: { a: { Type: 'Task', Resource: 'f', End: true } } }],
    ['a command', { name: 'f', command: 'python f.py', hostPath: '/srv' }],
    ['a function', { apiVersion: 'v1', kind: 'Function', metadata, spec: { userUploadFilePath: '/srv' } }],
    ['billionths', limits({ cpu: 500_000_000 })],
    ['a path', pod({ volumes: [{ name: 'v', hostPath: '/srv' }] })],
    ['another pod', pod({ nodeSelector: { with: 'q' } })],
    [
      'headers',
      pod({ containers: [{ name: 'c', livenessProbe: { httpGet: { port: 1, HttpHeaders: [] } } }] }),
    ],
    ['metrics', pod({ containers: [{ name: 'c', ports: [{ containerPort: 1, metrics: '/m' }] }] })],
    ['resources of a pod', pod({ resources: {} })],
    ['a port of nodes without a type', service({ port: 80, nodePort: 8080 })],
    ['a selector of labels', { ...deployment, spec: { ...deployment.spec, selector: { a: 'b' } } }],
    ['a kind in other letters', { ...deployment, kind: 'Replicaset' }],
    [
      'a size as a text',
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: { resources: '8Gi' } },
    ],
  ] as const)
    it(`is recognized by ${what}`, () => {
      assert.equal(isOtherDialect(object as JsonObject, kubernetesFields), true);
    });
});

describe("a manifest of Kubernetes' own", () => {
  for (const [what, object] of [
    ['a pod', pod()],
    [
      'a pod with all that the cluster writes',
      { ...pod(), metadata: { name: 'x', uid: 'u' }, status: { phase: 'Running' } },
    ],
    ['a pod whose name the server makes', { ...pod(), metadata: { generateName: 'x-' } }],
    ['a pod with an invalid name', pod({ containers: [{ name: 'A_B', image: 'i' }] })],
    ['a pod whose container has no name', pod({ containers: [{ image: 'i' }] })],
    ['a pod with a mistyped field', pod({ restartPolcy: 'Never' })],
    [
      'a pod with values of other types',
      pod({ containers: [{ name: 'c', env: [{ name: 'A', value: 1 }], command: 'ls' }] }),
    ],
    ['a pod with a selector of nodes', pod({ nodeSelector: { disk: 'ssd' } })],
    ['a Deployment', deployment],
    ['a Deployment of an older version', { ...deployment, apiVersion: 'apps/v1beta1' }],
    [
      'a Deployment whose template has a name',
      {
        ...deployment,
        spec: {
          ...deployment.spec,
          template: { ...template, metadata: { ...template.metadata, name: 'y' } },
        },
      },
    ],
    ['a pod with a wrong unit of memory', limits({ memory: '64mb' })],
    [
      'a claim with a wrong unit of storage',
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata,
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1GB' } } },
      },
    ],
    ['a Service', service({ port: 80, targetPort: 'http' })],
    [
      'a Service with a port that no node gives',
      serviceSpec({ type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
    ],
    [
      'a Service inside the cluster with a port of nodes',
      serviceSpec({ type: 'ClusterIP', ports: [{ port: 80, nodePort: 30080 }] }),
    ],
    ['a Service with ports without names', serviceSpec({ ports: [{ port: 80 }, { port: 81 }] })],
    ['a Service with an address', serviceSpec({ clusterIP: '10.97.0.1', ports: [{ port: 80 }] })],
    [
      'a claim',
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata,
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
    [
      'an autoscaler',
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata,
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
          maxReplicas: 2,
          metrics: [
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } },
            },
          ],
        },
      },
    ],
    ['a Job', { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } }],
    [
      'a Function',
      { apiVersion: 'minik8s.io/v1', kind: 'Function', metadata, spec: { runtime: 'python', files: {} } },
    ],
    ['a Workflow', { apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata, spec: { definition: {} } }],
    [
      'a Dns',
      {
        apiVersion: 'minik8s.io/v1',
        kind: 'Dns',
        metadata,
        spec: { host: 'a.example', paths: [{ path: '/', serviceName: 's', servicePort: 80 }] },
      },
    ],
    ...[{ port: 'x' }, { port: 80 }, { servicePort: 'x' }, { servicePort: '80' }].map(
      (port) =>
        [
          `a Dns of minik8s.io/v1 with the port ${JSON.stringify(port)}`,
          {
            apiVersion: 'minik8s.io/v1',
            kind: 'Dns',
            metadata,
            spec: { host: 'a.example', paths: [{ path: '/', serviceName: 's', ...port }] },
          },
        ] as const,
    ),
    ['a ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { with: 'q' } }],
    ['nothing', {}],
  ] as const)
    it(`is not taken for one of another system: ${what}`, () => {
      assert.equal(isOtherDialect(object as JsonObject, kubernetesFields), false);
    });
});
