/** Tests that are left out, and why. Pure. `--all` runs those too that are left out because something is not served. */

interface Rule {
  readonly tests: RegExp;
  readonly reason: string;
}

const notActedOn = (kinds: string) => `nothing acts on ${kinds} yet: the pods that these wait for never come`;

/** What most of these wait for never comes, for five minutes each or more. */
const notServed: readonly Rule[] = [
  {
    tests: /^\[sig-api-machinery\] (AdmissionWebhook|CustomResourceConversionWebhook) /,
    reason: 'webhooks are not served: what their server would refuse or convert is not',
  },
  {
    tests: /^\[sig-api-machinery\] Aggregator /,
    reason: 'other API servers are not asked (APIService): this waits five minutes for one',
  },
  {
    tests: /^\[sig-node\] Probing container should (be restarted|have monotonically)/,
    reason: 'probes are passed over: what these wait for does not happen',
  },
  { tests: /^\[sig-node\] InitContainer /, reason: 'init containers are not served: the pod does not start' },
  {
    tests: /^\[sig-node\] (Container Lifecycle Hook|PreStop) /,
    reason: 'lifecycle hooks are not served: the pod does not start',
  },
  {
    tests:
      /ReplicationController\b|\b(by|the|for|in) rc\b|Update Demo|both valid owner|Kubectl label|v1 should proxy through a service and a pod/,
    reason: notActedOn('ReplicationControllers'),
  },
  {
    tests:
      /Service endpoints latency|used for configmaps|Services should (be able to (change the type|switch session)|have session affinity|be able to create a functioning NodePort)/,
    reason: notActedOn('ReplicationControllers'),
  },
  { tests: /^\[sig-apps\] Job /, reason: notActedOn('Jobs') },
  {
    tests: /^\[sig-apps\] CronJob should (schedule|replace|not schedule new)/,
    reason: notActedOn('CronJobs'),
  },
  { tests: /^\[sig-apps\] StatefulSet /, reason: notActedOn('StatefulSets') },
  { tests: /^\[sig-apps\] (Daemon set|ControllerRevision) /, reason: notActedOn('DaemonSets') },
  {
    tests: /^\[sig-scheduling\] SchedulerPreemption .*(verify preemption|validates)/,
    reason: 'the scheduler does not preempt',
  },
  {
    tests: /^\[sig-apps\] DisruptionController /,
    reason: 'no controller writes the status of PodDisruptionBudgets, for which these wait ten minutes',
  },
];

const twoNodes = /should have at least two untainted nodes|Daemon set \[Serial\] should rollback without/;

/** What a test uses and does not get here, where that is why it is left out. */
export function whatIsNotServed(name: string): string | undefined {
  return notServed.find(({ tests }) => tests.test(name))?.reason;
}

/** Why a test is left out on so many nodes; undefined when it runs. */
export function reasonNotToRun(name: string, nodes: number, all = false): string | undefined {
  if (nodes < 2 && twoNodes.test(name)) return 'asks for two nodes';
  return all ? undefined : whatIsNotServed(name);
}
