/** The shipped recording and alert rules, as Prometheus' own promtool reads and runs them. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { systemExec } from '../../../src/os/exec.ts';
import { promtoolProgram, unlessPrometheus } from '../../fixtures/prometheus.ts';

const monitoring = join(import.meta.dirname, '../../../config/monitoring');
const rules = join(monitoring, 'rules');

/** Series `name{labels}` and its values, one a minute (promtool's notation). */
type Series = Readonly<Record<string, string>>;

interface AlertCase {
  /** Series for which the alert fires, with `labels` besides its own. */
  readonly bad: Series;
  readonly labels?: Readonly<Record<string, string>>;
  /** Series for which the alert does not fire. */
  readonly good: Series;
}

const always = (value: number) => `${value}x60`;
const counted = (each: number) => `0+${each}x60`;
const objects = 'job="kube-state-metrics"';
const agent = 'job="kubelet", metrics_path="/metrics"';
const cadvisor = 'job="kubelet", metrics_path="/metrics/cadvisor"';
const pod = { namespace: 'shop', pod: 'web-1' };
const inPod = 'namespace="shop", pod="web-1"';
const called = { namespace: 'shop', function: 'pay' };
const ofFunction = 'namespace="shop", function="pay"';
const condition = (type: string, status: string) =>
  `kube_node_status_condition{${objects}, node="n1", condition="${type}", status="${status}"}`;
const requests = (code: string) =>
  `apiserver_request_total{job="apiserver", verb="GET", resource="pods", code="${code}"}`;
const slow = (le: string) =>
  `apiserver_request_sli_duration_seconds_bucket{job="apiserver", verb="GET", resource="pods", le="${le}"}`;
const held = 'minik8s_event_loop_held_seconds_count{job="apiserver", instance="a", kind="request"}';
const deployment = `${objects}, namespace="shop", deployment="web"`;

const alerts: Readonly<Record<string, AlertCase>> = {
  KubeAPIDown: {
    bad: { 'up{job="apiserver", instance="a"}': always(0) },
    good: { 'up{job="apiserver", instance="a"}': always(0), 'up{job="apiserver", instance="b"}': always(1) },
  },
  TargetDown: {
    bad: { [`up{${agent}, node="n1"}`]: always(0), [`up{${agent}, node="n2"}`]: always(1) },
    labels: { job: 'kubelet', metrics_path: '/metrics' },
    good: { [`up{${agent}, node="n1"}`]: always(1) },
  },
  KubeAPIErrors: {
    bad: { [requests('200')]: counted(90), [requests('500')]: counted(10) },
    good: { [requests('200')]: counted(99), [requests('500')]: counted(1) },
  },
  KubeAPISlow: {
    bad: { [slow('1')]: counted(10), [slow('5')]: counted(60), [slow('+Inf')]: counted(60) },
    labels: { quantile: '0.99', resource: 'pods', verb: 'read' },
    good: { [slow('1')]: counted(60), [slow('5')]: counted(60), [slow('+Inf')]: counted(60) },
  },
  EventLoopHeld: {
    bad: { [held]: counted(1) },
    labels: { job: 'apiserver', instance: 'a', kind: 'request' },
    good: { [held]: always(100) },
  },
  WorkqueueStuck: {
    bad: { 'workqueue_unfinished_work_seconds{job="kube-controller-manager", name="job"}': counted(60) },
    labels: { job: 'kube-controller-manager', name: 'job' },
    good: { 'workqueue_unfinished_work_seconds{job="kube-controller-manager", name="job"}': always(3) },
  },
  SchedulerPendingPods: {
    bad: { 'scheduler_pending_pods{job="kube-scheduler", queue="unschedulable"}': always(2) },
    good: { 'scheduler_pending_pods{job="kube-scheduler", queue="active"}': always(2) },
  },
  KubeNodeNotReady: {
    bad: { [condition('Ready', 'true')]: always(0) },
    labels: { job: 'kube-state-metrics', node: 'n1', condition: 'Ready', status: 'true' },
    good: { [condition('Ready', 'true')]: always(1) },
  },
  KubeNodePressure: {
    bad: { [condition('DiskPressure', 'true')]: always(1) },
    labels: { job: 'kube-state-metrics', node: 'n1', condition: 'DiskPressure', status: 'true' },
    good: { [condition('DiskPressure', 'true')]: always(0), [condition('DiskPressure', 'false')]: always(1) },
  },
  NodeMemoryFull: {
    bad: {
      [`container_memory_working_set_bytes{${cadvisor}, node="n1", id="/"}`]: always(98),
      [`machine_memory_bytes{${cadvisor}, node="n1"}`]: always(100),
    },
    labels: { node: 'n1' },
    good: {
      [`container_memory_working_set_bytes{${cadvisor}, node="n1", id="/"}`]: always(50),
      [`machine_memory_bytes{${cadvisor}, node="n1"}`]: always(100),
    },
  },
  KubeletTooManyPods: {
    bad: {
      [`kubelet_running_pods{${agent}, node="n1"}`]: always(109),
      [`kube_node_status_capacity{${objects}, node="n1", resource="pods"}`]: always(110),
    },
    labels: { node: 'n1' },
    good: {
      [`kubelet_running_pods{${agent}, node="n1"}`]: always(10),
      [`kube_node_status_capacity{${objects}, node="n1", resource="pods"}`]: always(110),
    },
  },
  KubePodCrashLooping: {
    // The series is absent while the container runs for a moment.
    bad: {
      [`kube_pod_container_status_waiting_reason{${objects}, ${inPod}, container="main", reason="CrashLoopBackOff"}`]:
        '1 _ 1 1 _ 1 1 1 _ 1 1 1 _ 1 1 1 _ 1 1 1 _ 1x40',
    },
    labels: { job: 'kube-state-metrics', ...pod, container: 'main', reason: 'CrashLoopBackOff' },
    good: {
      [`kube_pod_container_status_waiting_reason{${objects}, ${inPod}, container="main", reason="CrashLoopBackOff"}`]:
        '1 1 _x60',
    },
  },
  KubePodNotReady: {
    bad: { [`kube_pod_status_phase{${objects}, ${inPod}, phase="Pending"}`]: always(1) },
    labels: pod,
    good: {
      [`kube_pod_status_phase{${objects}, ${inPod}, phase="Failed"}`]: always(1),
      [`kube_pod_owner{${objects}, ${inPod}, owner_kind="Job"}`]: always(1),
    },
  },
  KubeDeploymentReplicasMismatch: {
    bad: {
      [`kube_deployment_spec_replicas{${deployment}}`]: always(3),
      [`kube_deployment_status_replicas_available{${deployment}}`]: always(2),
      [`kube_deployment_status_replicas_updated{${deployment}}`]: always(3),
    },
    labels: { job: 'kube-state-metrics', namespace: 'shop', deployment: 'web' },
    // The rollout is in progress.
    good: {
      [`kube_deployment_spec_replicas{${deployment}}`]: always(90),
      [`kube_deployment_status_replicas_available{${deployment}}`]: always(2),
      [`kube_deployment_status_replicas_updated{${deployment}}`]: counted(1),
    },
  },
  KubeJobFailed: {
    bad: { [`kube_job_failed{${objects}, namespace="shop", job_name="bill", condition="true"}`]: always(1) },
    labels: { job: 'kube-state-metrics', namespace: 'shop', job_name: 'bill', condition: 'true' },
    good: { [`kube_job_failed{${objects}, namespace="shop", job_name="bill", condition="true"}`]: always(0) },
  },
  KubePersistentVolumeFillingUp: {
    bad: {
      [`kubelet_volume_stats_available_bytes{${agent}, namespace="shop", persistentvolumeclaim="data"}`]:
        always(1),
      [`kubelet_volume_stats_capacity_bytes{${agent}, namespace="shop", persistentvolumeclaim="data"}`]:
        always(100),
    },
    labels: { job: 'kubelet', metrics_path: '/metrics', namespace: 'shop', persistentvolumeclaim: 'data' },
    good: {
      [`kubelet_volume_stats_available_bytes{${agent}, namespace="shop", persistentvolumeclaim="data"}`]:
        always(50),
      [`kubelet_volume_stats_capacity_bytes{${agent}, namespace="shop", persistentvolumeclaim="data"}`]:
        always(100),
    },
  },
  ContainerOutOfMemory: {
    bad: { [`container_oom_events_total{${cadvisor}, ${inPod}, container="main"}`]: counted(1) },
    labels: { job: 'kubelet', metrics_path: '/metrics/cadvisor', ...pod, container: 'main' },
    good: { [`container_oom_events_total{${cadvisor}, ${inPod}, container="main"}`]: always(4) },
  },
  FunctionErrors: {
    bad: {
      [`minik8s_function_calls_total{${ofFunction}, code="200"}`]: counted(80),
      [`minik8s_function_calls_total{${ofFunction}, code="502"}`]: counted(20),
    },
    labels: called,
    good: {
      [`minik8s_function_calls_total{${ofFunction}, code="200"}`]: counted(99),
      [`minik8s_function_calls_total{${ofFunction}, code="502"}`]: counted(1),
    },
  },
  FunctionCallsWait: {
    bad: { [`minik8s_function_calls_waiting{${ofFunction}}`]: always(1) },
    labels: called,
    good: { [`minik8s_function_calls_waiting{${ofFunction}}`]: always(0) },
  },
};

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert?: string;
      readonly record?: string;
      readonly labels?: object;
    }[];
  }[];
}

async function shipped() {
  const names = (await readdir(rules)).sort();
  const files = await Promise.all(names.map((name) => readFile(join(rules, name), 'utf8')));
  return {
    files: names.map((name) => join(rules, name)),
    rules: files.flatMap((text) => (parse(text) as RuleFile).groups.flatMap((group) => group.rules)),
  };
}

const promtool = (...args: string[]) => systemExec(promtoolProgram, args, { timeoutMs: 120_000 });

describe('rules of Prometheus', { skip: unlessPrometheus, timeout: 300_000 }, () => {
  it('pass the checks of promtool without a warning', async () => {
    const { files } = await shipped();
    await promtool('check', 'rules', '--lint=all', '--lint-fatal', ...files);
  });

  it('fire only under their conditions', async () => {
    const { files, rules: all } = await shipped();
    const known = all.filter(({ alert }) => alert !== undefined);
    assert.deepEqual(known.map(({ alert }) => alert).sort(), Object.keys(alerts).sort());
    const tests = known.flatMap(({ alert = '', labels }) => {
      const { bad, good, labels: more = {} } = alerts[alert] as AlertCase;
      const expected = { __name__: 'ALERTS', alertname: alert, alertstate: 'firing', ...labels, ...more };
      const text = `{${Object.entries(expected)
        .map(([name, value]) => `${name}="${value}"`)
        .join(', ')}}`;
      const asked = `ALERTS{alertname="${alert}", alertstate="firing"}`;
      const of = (series: Series, samples: readonly object[]) => ({
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [{ expr: asked, eval_time: '40m', exp_samples: samples }],
      });
      return [of(bad, [{ labels: text, value: 1 }]), of(good, [])];
    });
    const directory = await mkdtemp(join(tmpdir(), 'minik8s-rules-'));
    try {
      const path = join(directory, 'tests.yml');
      await writeFile(path, JSON.stringify({ rule_files: files, evaluation_interval: '1m', tests }));
      await promtool('test', 'rules', path);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
