import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '../../../../../src/kube-apiserver/object-metrics/kinds/pods.ts';
import { describeSamples, labelsOf } from '../expected-samples.ts';

const at = '2026-01-02T03:04:05Z';
const seconds = '1767323045';
const condition = (type: string, status: string, reason?: string) => ({
  type,
  status,
  reason,
  lastTransitionTime: at,
});
const ended = { exitCode: 137, reason: 'OOMKilled', startedAt: at, finishedAt: at };
const container = { name: 'c', image: 'wanted' };
const held = {
  name: 'c',
  image: 'run',
  imageID: 'sha256:1',
  containerID: 'docker://1',
  ready: true,
  restartCount: 3,
};
const resources = {
  limits: { cpu: '200m', memory: '100M', storage: '400M', 'nvidia.com/gpu': '1', 'requests.a/b': '1' },
  requests: { cpu: '1', 'ephemeral-storage': '1500m', 'hugepages-2Mi': '4Mi', 'kubernetes.io/x': '1' },
};

test('samples of pods have namespace, name and uid', () =>
  assert.equal(labelsOf(pods), 'namespace="ns",pod="a",uid="u"'));

describeSamples('pods', pods, 'kube_pod', [
  ['created', {}, '1767225600'],
  ['deletion_timestamp', {}],
  ['deletion_timestamp', { metadata: { deletionTimestamp: at } }, seconds],
  [
    'info',
    { spec: {} },
    'host_ip="",pod_ip="",node="",created_by_kind="",created_by_name="",priority_class="",host_network="false" 1',
  ],
  [
    'info',
    {
      metadata: {
        ownerReferences: [
          { kind: 'Other', name: 'o' },
          { kind: 'ReplicaSet', name: 'r', controller: true },
        ],
      },
      spec: { nodeName: 'n', priorityClassName: 'high', hostNetwork: true },
      status: { hostIP: '192.0.2.1', podIP: '10.0.0.1' },
    },
    'host_ip="192.0.2.1",pod_ip="10.0.0.1",node="n",created_by_kind="ReplicaSet",created_by_name="r",priority_class="high",host_network="true" 1',
  ],
  ['owner', {}, 'owner_kind="",owner_name="",owner_is_controller="" 1'],
  [
    'owner',
    {
      metadata: {
        ownerReferences: [
          { kind: 'Other', name: 'o' },
          { kind: 'ReplicaSet', name: 'r', controller: true },
        ],
      },
    },
    'owner_kind="Other",owner_name="o",owner_is_controller="false" 1',
    'owner_kind="ReplicaSet",owner_name="r",owner_is_controller="true" 1',
  ],
  [
    'ips',
    { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }, { ip: 'none' }] } },
    'ip="10.0.0.1",ip_family="4" 1',
    'ip="fd00::1",ip_family="6" 1',
  ],
  ['overhead_cpu_cores', { spec: { overhead: { cpu: '10m' } } }, '0.01'],
  ['overhead_cpu_cores', { spec: {} }],
  ['overhead_memory_bytes', { spec: { overhead: { memory: '1Gi' } } }, '1073741824'],
  ['runtimeclass_name_info', { spec: {} }],
  ['runtimeclass_name_info', { spec: { runtimeClassName: 'x' } }, 'runtimeclass_name="x" 1'],
  [
    'tolerations',
    {
      spec: {
        tolerations: [
          { key: 'k', tolerationSeconds: 0 },
          { key: 'k', tolerationSeconds: 0 },
          { operator: 'Exists' },
        ],
      },
    },
    'key="k",operator="",value="",effect="",toleration_seconds="0" 1',
    'key="",operator="Exists",value="",effect="",toleration_seconds="" 1',
  ],
  [
    'spec_volumes_persistentvolumeclaims_readonly',
    {
      spec: {
        volumes: [
          { name: 'a', persistentVolumeClaim: { claimName: 'x', readOnly: true } },
          { name: 'b', persistentVolumeClaim: { claimName: 'y' } },
          { name: 'c', emptyDir: {} },
        ],
      },
    },
    'volume="a",persistentvolumeclaim="x" 1',
    'volume="b",persistentvolumeclaim="y" 0',
  ],
  ['status_phase', {}],
  [
    'status_phase',
    { status: { phase: 'Running' } },
    'phase="Pending" 0',
    'phase="Succeeded" 0',
    'phase="Failed" 0',
    'phase="Unknown" 0',
    'phase="Running" 1',
  ],
  [
    'status_ready',
    { status: { conditions: [condition('Ready', 'False')] } },
    'condition="true" 0',
    'condition="false" 1',
    'condition="unknown" 0',
  ],
  ['status_ready', { status: { conditions: [condition('Initialized', 'True')] } }],
  ['status_ready_time', { status: { conditions: [condition('Ready', 'False')] } }],
  ['status_ready_time', { status: { conditions: [condition('Ready', 'True')] } }, seconds],
  ['status_unschedulable', { status: { conditions: [condition('PodScheduled', 'True')] } }],
  ['status_unschedulable', { status: { conditions: [condition('PodScheduled', 'False')] } }, '1'],
  ['status_unscheduled_time', { status: { conditions: [condition('PodScheduled', 'False')] } }, seconds],
  ['status_scheduled_time', { status: { conditions: [condition('PodScheduled', 'False')] } }],
  ['completion_time', { status: { containerStatuses: [{ state: { running: {} } }] } }],
  [
    'completion_time',
    {
      status: {
        containerStatuses: [
          { state: { terminated: { finishedAt: at } } },
          { state: { terminated: { finishedAt: '2026-01-02T03:04:04Z' } } },
        ],
      },
    },
    seconds,
  ],
]);

const reasons = (...told: readonly string[]) =>
  [
    'Evicted',
    'NodeAffinity',
    'NodeLost',
    'PreemptionByScheduler',
    'SchedulingGated',
    'Shutdown',
    'TerminationByKubelet',
    'UnexpectedAdmissionError',
  ].map((reason) => `reason="${reason}" ${Number(told.includes(reason))}`);
describeSamples('why pods are as they are', pods, 'kube_pod_status', [
  ['reason', {}, ...reasons()],
  ['reason', { status: { reason: 'Evicted' } }, ...reasons('Evicted')],
  [
    'reason',
    {
      status: {
        conditions: [condition('PodScheduled', 'False', 'SchedulingGated')],
        containerStatuses: [{ state: { terminated: { reason: 'Shutdown' } } }],
      },
    },
    ...reasons('SchedulingGated', 'Shutdown'),
  ],
]);

describeSamples('containers', pods, 'kube_pod_container', [
  ['info', { spec: { containers: [container] } }],
  [
    'info',
    { spec: { containers: [container] }, status: { containerStatuses: [held, { ...held, name: 'gone' }] } },
    'container="c",image_spec="wanted",image="run",image_id="sha256:1",container_id="docker://1" 1',
  ],
  [
    'resource_limits',
    { spec: { nodeName: 'n', containers: [{ ...container, resources }] } },
    'container="c",node="n",resource="cpu",unit="core" 0.2',
    'container="c",node="n",resource="memory",unit="byte" 100000000',
    'container="c",node="n",resource="storage",unit="byte" 400000000',
    'container="c",node="n",resource="nvidia_com_gpu",unit="integer" 1',
  ],
  [
    'resource_requests',
    { spec: { containers: [{ ...container, resources }] } },
    'container="c",node="",resource="cpu",unit="core" 1',
    'container="c",node="",resource="ephemeral_storage",unit="byte" 2',
    'container="c",node="",resource="hugepages_2Mi",unit="byte" 4194304',
  ],
  ['state_started', { status: { containerStatuses: [{ ...held, state: { waiting: {} } }] } }],
  [
    'state_started',
    { status: { containerStatuses: [{ ...held, state: { terminated: ended } }] } },
    `container="c" ${seconds}`,
  ],
  ['status_ready', { status: { containerStatuses: [held] } }, 'container="c" 1'],
  ['status_restarts_total', { status: { containerStatuses: [held] } }, 'container="c" 3'],
  [
    'status_running',
    { status: { containerStatuses: [{ ...held, state: { running: {} } }] } },
    'container="c" 1',
  ],
  ['status_waiting', { status: { containerStatuses: [held] } }, 'container="c" 0'],
  ['status_waiting_reason', { status: { containerStatuses: [held] } }],
  [
    'status_waiting_reason',
    { status: { containerStatuses: [{ ...held, state: { waiting: { reason: 'CrashLoopBackOff' } } }] } },
    'container="c",reason="CrashLoopBackOff" 1',
  ],
  [
    'status_terminated_reason',
    { status: { containerStatuses: [{ ...held, state: { terminated: ended } }] } },
    'container="c",reason="OOMKilled" 1',
  ],
  [
    'status_last_terminated_exitcode',
    { status: { containerStatuses: [{ ...held, lastState: { terminated: ended } }] } },
    'container="c" 137',
  ],
  [
    'status_last_terminated_exitcode',
    { status: { containerStatuses: [{ ...held, lastState: { terminated: { exitCode: 0 } } }] } },
    'container="c" 0',
  ],
]);

describeSamples('init containers', pods, 'kube_pod_init_container', [
  [
    'info',
    {
      spec: { containers: [], initContainers: [{ ...container, restartPolicy: 'Always' }] },
      status: { containerStatuses: [held], initContainerStatuses: [held] },
    },
    'container="c",image_spec="wanted",image="run",image_id="sha256:1",container_id="docker://1",restart_policy="Always" 1',
  ],
  ['status_ready', { status: { containerStatuses: [held] } }],
]);
